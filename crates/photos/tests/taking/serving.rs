//! Serving files.

use image::ImageFormat;
use object_store::ObjectStoreExt;
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
    let other = object_store::path::Path::from("secret.txt");
    studio.photos.files().put(&other, b"not a photo".to_vec().into()).await.unwrap();
    for wrong in
        ["secret.txt", "../store", "etc/passwd", &path.replace("-1600", "-1601"), &format!("{path}/../x")]
    {
        assert!(matches!(studio.photos.serve(wrong, None).await, Err(NotServed::NotFound)), "{wrong}");
    }
}
