//! Files in a place that speaks S3.

use futures::TryStreamExt as _;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use photos::files;
use testkit::S3;

fn variables(s3: &S3) -> Vec<(String, String)> {
    s3.environment().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[tokio::test]
async fn files_are_written_below_the_prefix_found_and_listed() {
    let s3 = S3::start().unwrap();
    let files = files::open_with("s3://bucket/some/prefix", variables(&s3)).unwrap();
    let path = Path::from("ab/abcd/0123abcd-800.jpg");
    files.put(&path, b"a photo".to_vec().into()).await.unwrap();
    let kept = s3.files().get("bucket/some/prefix/ab/abcd/0123abcd-800.jpg").cloned();
    assert_eq!(kept.as_deref(), Some(&b"a photo"[..]));
    assert_eq!(files.get(&path).await.unwrap().bytes().await.unwrap(), &b"a photo"[..]);
    assert_eq!(files.head(&path).await.unwrap().size, 7);
    let listed: Vec<_> = files.list(None).map_ok(|file| file.location).try_collect().await.unwrap();
    assert_eq!(listed, [path]);
    let missing = files.get(&Path::from("ab/none.jpg")).await;
    assert!(matches!(missing, Err(object_store::Error::NotFound { .. })), "{missing:?}");
}

#[tokio::test]
async fn a_wrong_key_is_refused() {
    let s3 = S3::start().unwrap();
    let mut variables = variables(&s3);
    variables.push(("AWS_ACCESS_KEY_ID".to_owned(), "another".to_owned()));
    let files = files::open_with("s3://bucket", variables).unwrap();
    let refused = files.put(&Path::from("a.jpg"), b"a photo".to_vec().into()).await.unwrap_err();
    assert!(matches!(refused, object_store::Error::PermissionDenied { .. }), "{refused:?}");
    assert!(s3.files().is_empty());
}
