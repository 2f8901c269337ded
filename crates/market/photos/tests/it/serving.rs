//! Serving files.

use image::ImageFormat;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use photos::NotServed;

use crate::studio::{NOW, Studio, file, scene};

pub(crate) async fn a_file_is_served_with_headers_for_ever(studio: Studio) {
    studio.site.file("/a.png", &file(&scene(500, 400, 1), ImageFormat::Png));
    let photo = studio.photos.take("http://example.com/a.png", NOW).await.unwrap();
    for size in &photo.sizes {
        let served = studio.photos.serve(&size.path, None).await.unwrap();
        let bytes = served.bytes.unwrap();
        assert_eq!(bytes.len() as u64, size.bytes);
        let decoded = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).unwrap();
        assert_eq!((decoded.width(), decoded.height()), (size.width, size.height));
    }
    let path = &photo.sizes[0].path;
    let served = studio.photos.serve(path, Some("\"other\"")).await.unwrap();
    let header = |name: &str| served.headers.iter().find(|header| header.0 == name).map(|header| &*header.1);
    assert_eq!(header("content-type"), Some("image/jpeg"));
    assert_eq!(header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(header("x-content-type-options"), Some("nosniff"));
    let tag = header("etag").unwrap();
    for known in [tag.to_owned(), format!("\"x\", W/{tag}"), "*".to_owned()] {
        assert_eq!(studio.photos.serve(path, Some(&known)).await.unwrap().bytes, None, "{known}");
    }
    let other = Path::from("secret.txt");
    studio.photos.files().put(&other, b"not a photo".to_vec().into()).await.unwrap();
    for wrong in
        ["secret.txt", "../store", "etc/passwd", &path.replace("-1600", "-1601"), &format!("{path}/../x")]
    {
        assert!(matches!(studio.photos.serve(wrong, None).await, Err(NotServed::NotFound)), "{wrong}");
    }
}

pub(crate) async fn files_that_are_missing_or_cut_are_found_some_photos_at_a_time(studio: Studio) {
    let mut photos = Vec::new();
    for seed in 0..3 {
        let (path, url) = (format!("/{seed}.png"), format!("http://example.com/{seed}.png"));
        studio.site.file(&path, &file(&scene(500, 400, seed), ImageFormat::Png));
        photos.push(studio.photos.take(&url, NOW).await.unwrap());
    }
    let files = studio.photos.files();
    let survey = async |after, most| photos::survey(&studio.store, &**files, after, most).await.unwrap();
    let all = survey(None, 10).await;
    assert_eq!((all.photos, all.missing, all.next), (3, vec![], None));
    let (lost, cut) = (&photos[0].sizes[0].path, &photos[1].sizes[1].path);
    files.delete(&Path::from(&**lost)).await.unwrap();
    files.put(&Path::from(&**cut), b"half a photo".to_vec().into()).await.unwrap();
    let mut missing = survey(None, 10).await.missing;
    missing.sort();
    let mut wanted = vec![lost.clone(), cut.clone()];
    wanted.sort();
    assert_eq!(missing, wanted);
    let first = survey(None, 2).await;
    let rest = survey(first.next, 10).await;
    assert_eq!((first.photos, rest.photos, rest.next), (2, 1, None));
    assert_eq!(first.missing.len() + rest.missing.len(), 2);
}
