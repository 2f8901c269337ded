use std::pin::pin;
use std::time::Duration;

use super::{Bed, CaseResult, NOW, TOPIC, create, message, messages, read_all, texts};
use crate::{Error, Message, ReadLimit};

pub(super) async fn pages_follow_each_other(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..100)).await?;
    let mut next = 0;
    let mut seen = Vec::new();
    while seen.len() < 100 {
        let page = bed.topics.read(TOPIC, 0, next, ReadLimit::messages(7)).await?;
        assert!((1..=7).contains(&page.messages.len()));
        assert_eq!(page.messages[0].offset, next);
        assert_eq!(page.next, next + page.messages.len() as i64);
        seen.extend(texts(&page.messages).into_iter().map(str::to_owned));
        next = page.next;
    }
    assert_eq!(seen, (0..100).map(|n| n.to_string()).collect::<Vec<_>>());
    for offset in [99, 0, 50] {
        let page = bed.topics.read(TOPIC, 0, offset, ReadLimit::messages(1)).await?;
        assert_eq!(texts(&page.messages), [offset.to_string()], "a read anywhere");
    }
    Ok(())
}

pub(super) async fn a_page_is_limited_in_bytes_but_never_empty(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let large: Vec<Message> = (0..6u8).map(|n| Message::new("k", vec![n; 100_000], NOW)).collect();
    bed.topics.append(TOPIC, large.clone()).await?;
    let mut next = 0;
    while next < 6 {
        let page = bed.topics.read(TOPIC, 0, next, ReadLimit::default().bytes(250_000)).await?;
        assert!((1..=3).contains(&page.messages.len()), "{} messages", page.messages.len());
        next = page.next;
    }
    let page = bed.topics.read(TOPIC, 0, 3, ReadLimit::default().bytes(1)).await?;
    assert_eq!(page.messages.len(), 1);
    assert_eq!(page.messages[0].message, large[3]);
    Ok(())
}

pub(super) async fn a_read_at_the_end_is_empty(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    let page = bed.topics.read(TOPIC, 0, 0, ReadLimit::default()).await?;
    assert_eq!((page.messages.len(), page.next), (0, 0));
    bed.topics.append(TOPIC, messages("k", 0..3)).await?;
    let page = bed.topics.read(TOPIC, 0, 3, ReadLimit::default()).await?;
    assert_eq!((page.messages.len(), page.next), (0, 3));
    Ok(())
}

pub(super) async fn an_offset_beyond_the_end_is_refused_with_the_bounds(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..3)).await?;
    for beyond in [4, 1_000_000, i64::MAX - 1, -1, i64::MIN] {
        for wait in [Duration::ZERO, Duration::from_secs(60)] {
            let answer = bed.topics.read(TOPIC, 0, beyond, ReadLimit::default().waiting(wait)).await;
            let Err(Error::OffsetOutOfRange { offset, first, end, .. }) = answer else {
                return Err(format!("{beyond}: {answer:?}").into());
            };
            assert_eq!((offset, first, end), (beyond, 0, 3));
        }
    }
    assert_eq!(read_all(&bed.topics, 0, 0).await?.len(), 3, "reading goes on after that");
    Ok(())
}

pub(super) async fn a_read_sees_what_another_process_was_told_is_there(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    for n in 0..30 {
        bed.topics.append(TOPIC, vec![message("k", n)]).await?;
        let page = bed.other.read(TOPIC, 0, n, ReadLimit::messages(10)).await?;
        assert_eq!(texts(&page.messages), [n.to_string()]);
    }
    Ok(())
}

pub(super) async fn readers_at_different_places_do_not_disturb_each_other(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..200)).await?;
    let readers = (0..12).map(|n| {
        let topics = bed.topics.clone();
        tokio::spawn(async move {
            let mut next = n * 10;
            while next < 200 {
                let page = topics.read(TOPIC, 0, next, ReadLimit::messages(3)).await?;
                let expected: Vec<String> = (next..page.next).map(|n| n.to_string()).collect();
                assert_eq!(texts(&page.messages), expected);
                assert!(!expected.is_empty());
                next = page.next;
            }
            Ok::<(), Error>(())
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await??;
    }
    Ok(())
}

pub(super) async fn a_waiting_read_is_woken(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    let patient = ReadLimit::default().waiting(Duration::from_secs(60));
    for n in 0..5 {
        let topics = bed.other.clone();
        let reader = tokio::spawn(async move { topics.read(TOPIC, 1, n, patient).await });
        // Something else happens first, which is not what the reader waits for.
        bed.topics.append_to(TOPIC, 0, vec![message("k", "elsewhere")]).await?;
        assert!(!reader.is_finished());
        bed.topics.append_to(TOPIC, 1, vec![message("k", n)]).await?;
        let page = tokio::time::timeout(Duration::from_secs(20), reader).await???;
        assert_eq!(texts(&page.messages), [n.to_string()]);
    }
    Ok(())
}

pub(super) async fn a_waiting_read_gives_up_in_time(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..2)).await?;
    let limit = ReadLimit::default().waiting(Duration::from_millis(700));
    for _ in 0..2 {
        let mut read = pin!(bed.topics.read(TOPIC, 0, 2, limit));
        tokio::select! {
            biased;
            () = tokio::time::sleep(limit.wait / 2) => {}
            early = &mut read => panic!("the read did not wait: {early:?}"),
        }
        let page = read.await?;
        assert_eq!((page.messages.len(), page.next), (0, 2));
    }
    Ok(())
}

pub(super) async fn a_dropped_read_loses_nothing(bed: Bed) -> CaseResult {
    create(&bed.topics, 1).await?;
    bed.topics.append(TOPIC, messages("k", 0..20)).await?;
    for _ in 0..20 {
        let read = bed.topics.read(TOPIC, 0, 20, ReadLimit::default().waiting(Duration::from_secs(60)));
        tokio::time::timeout(Duration::from_millis(5), read).await.expect_err("nothing comes");
    }
    bed.topics.append(TOPIC, messages("k", 20..30)).await?;
    assert_eq!(read_all(&bed.topics, 0, 0).await?.len(), 30);
    assert_eq!(read_all(&bed.topics, 0, 20).await?.len(), 10);
    Ok(())
}

/// Looks all the time, also while an append is becoming visible.
pub(super) async fn a_reader_at_the_end_keeps_up_with_large_appends(bed: Bed) -> CaseResult {
    const APPENDS: i64 = 10;
    const MESSAGES: i64 = 1000;
    create(&bed.topics, 2).await?;
    let writer = tokio::spawn({
        let topics = bed.topics.clone();
        async move {
            for _ in 0..APPENDS {
                topics.append_to(TOPIC, 0, messages("k", 0..MESSAGES as usize)).await?;
            }
            Ok::<_, Error>(())
        }
    });
    let mut next = 0;
    while next < APPENDS * MESSAGES {
        let page = bed.topics.read(TOPIC, 0, next, ReadLimit::default()).await?;
        let offsets: Vec<i64> = page.messages.iter().map(|delivered| delivered.offset).collect();
        assert_eq!(offsets, (next..page.next).collect::<Vec<_>>(), "no gaps");
        let found = bed.topics.offset_at(TOPIC, 0, NOW + 1).await?;
        assert!(found >= page.next && found <= APPENDS * MESSAGES, "the end is at {found}");
        next = page.next;
        tokio::task::yield_now().await;
    }
    Ok(writer.await??)
}

pub(super) async fn the_offset_of_a_time_is_found(bed: Bed) -> CaseResult {
    create(&bed.topics, 2).await?;
    assert_eq!(bed.topics.offset_at(TOPIC, 0, NOW).await?, 0, "in an empty log");
    let at = |ms: i64| Message::new("k", "p", NOW + ms);
    // 40 comes before 30: from a time on, nothing may be missed.
    for ms in [10, 20, 20, 40, 30, 50] {
        bed.topics.append_to(TOPIC, 0, vec![at(ms)]).await?;
    }
    for (ms, offset) in
        [(-5, 0), (10, 0), (11, 1), (20, 1), (21, 3), (30, 3), (40, 3), (41, 5), (50, 5), (51, 6)]
    {
        assert_eq!(bed.topics.offset_at(TOPIC, 0, NOW + ms).await?, offset, "{ms} ms");
    }
    assert_eq!(bed.topics.offset_at(TOPIC, 0, i64::MIN).await?, 0);
    assert_eq!(bed.topics.offset_at(TOPIC, 1, NOW).await?, 0, "partitions have their own times");
    Ok(())
}
