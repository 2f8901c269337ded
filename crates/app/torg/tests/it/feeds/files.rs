//! Uploads of files, and their reports.

use std::io::Cursor;

use calamine::{Data, Reader as _, Xlsx};
use serde_json::{Value, json};

use crate::common::{Answer, Server};
use crate::feeds::rig::{create, ended, feeds, live, send, sofa, upload, yml};

#[test]
fn a_file_becomes_live_offers_and_a_report_that_says_what_to_mend() {
    let server = Server::start(&[]);
    let made = create(&server, &json!({"seller": "ann", "title": "Sofas"}));
    assert_eq!((&made["namespace"], &made["version"]), (&json!("default"), &json!("1")));
    let file = yml(&[
        sofa("1", "Диван угловой", "10000"),
        sofa("2", "Диван прямой", "12000"),
        sofa("=3", "Диван старый", "дорого"),
    ]);
    let answer = upload(&server, "/feeds/ann/default/upload", file.as_bytes());
    assert_eq!(answer.status, 202, "{answer:?}");
    let told = answer.json();
    assert_eq!((&told["namespace"], &told["number"]), (&json!("default"), &json!("1")));
    let load = ended(&server, "", "1");
    assert_eq!(load["state"], "STATE_DONE", "{load}");
    assert_eq!((&load["format"], &load["origin"]), (&json!("yml"), &json!("ORIGIN_UPLOAD")));
    assert_eq!((&load["counts"]["created"], &load["counts"]["rejected"]), (&json!("2"), &json!("1")));
    assert_eq!(live(&server), ["Диван прямой", "Диван угловой"]);
    assert_eq!(feeds(&server, "GetFeed", &json!({"seller": "ann"}))["feed"]["lastLoad"]["number"], "1");

    let listed = feeds(&server, "ListProblems", &json!({"seller": "ann", "number": "1"}));
    let found = listed["problems"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{listed}");
    assert_eq!((&found[0]["externalId"], &found[0]["problem"]["code"]), (&json!("=3"), &json!("bad_price")));
    assert_eq!((&found[0]["problem"]["value"], &found[0]["problem"]["line"]), (&json!("дорого"), &json!(6)));
    let warnings = feeds(&server, "ListProblems", &json!({"seller": "ann", "severity": "SEVERITY_WARNING"}));
    assert!(warnings["problems"].is_null(), "{warnings}");
    let summary = feeds(&server, "SummarizeProblems", &json!({"seller": "ann", "language": "ru"}));
    let code = &summary["codes"][0];
    assert_eq!(
        (&code["code"], &code["count"], &code["link"]),
        (&json!("bad_price"), &json!("1"), &json!("/feeds/errors#bad_price"))
    );
    assert!(code["remedy"].as_str().unwrap().contains("число"), "{code}");

    assert_reports(&server);
    let again = upload(&server, "/feeds/ann/default/upload", file.as_bytes()).json();
    let load = ended(&server, "default", again["number"].as_str().unwrap());
    assert_eq!((&load["number"], &load["counts"]["unchanged"]), (&json!("2"), &json!("2")));
    let page = feeds(&server, "ListLoads", &json!({"seller": "ann", "pageSize": 1}));
    assert_eq!(page["loads"][0]["number"], "2");
    let next = json!({"seller": "ann", "pageSize": 1, "pageToken": page["nextPageToken"]});
    let page = feeds(&server, "ListLoads", &next);
    assert_eq!((&page["loads"][0]["number"], &page["nextPageToken"]), (&json!("1"), &Value::Null));
}

/// The reports of load 1: as CSV in Russian, and as a workbook in English.
fn assert_reports(server: &Server) {
    let csv = server.get("/feeds/ann/default/loads/1/problems.csv?language=ru");
    assert_eq!(csv.status, 200, "{csv:?}");
    assert!(
        csv.head.contains("content-disposition: attachment; filename=\"problems-1.csv\""),
        "{}",
        csv.head
    );
    let text = csv.body.clone();
    let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap().lines().collect();
    assert_eq!(lines[0], "offer id,title,severity,code,field,value,line,column,message,remedy,link");
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[1].starts_with("\"'=3\",") && lines[1].contains(",error,bad_price,price,дорого,6,"),
        "{text}"
    );
    assert!(lines[1].contains("Пишите число"), "{text}");

    let xlsx = server.get("/feeds/ann/default/loads/last/problems.xlsx");
    assert_eq!(xlsx.status, 200, "{xlsx:?}");
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(xlsx.bytes)).unwrap();
    let sheet = book.worksheet_range("problems").unwrap();
    assert_eq!((sheet.height(), sheet.width()), (2, 11));
    let cell = |row: u32, column: u32| sheet.get_value((row, column)).cloned().unwrap_or_default();
    assert_eq!((cell(0, 0), cell(0, 10)), (Data::String("offer id".into()), Data::String("link".into())));
    assert_eq!((cell(1, 0), cell(1, 6)), (Data::String("=3".into()), Data::Float(6.0)));
    assert_eq!(cell(1, 5), Data::String("дорого".into()));
    assert!(matches!(cell(1, 9), Data::String(remedy) if remedy.starts_with("Write a number")));
}

#[test]
fn the_schema_and_the_page_of_codes_are_for_everybody() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    let schema = server.get("/feeds/schema.xsd");
    assert!(schema.status == 200 && schema.body.contains("<xs:schema"), "{schema:?}");
    let page = server.get("/feeds/errors?language=ru");
    assert!(page.status == 200 && page.body.contains("<h2 id=\"bad_price\">"), "{page:?}");
    assert!(page.body.contains("Цена не является числом"), "{page:?}");
    assert_eq!(server.get("/feeds/errors?language=de").status, 400);
}

#[test]
fn what_is_wrong_with_an_upload_or_a_report_is_said() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:"), ("TORG_FEEDS_UPLOAD_MB_MAX", "1")]);
    create(&server, &json!({"seller": "ann"}));
    let case = |answer: Answer, status: u16, code: &str, says: &str| {
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.head.contains("content-type: application/json"), "{answer:?}");
        assert_eq!(answer.json()["code"], code, "{answer:?}");
        assert!(answer.body.contains(says), "{answer:?}");
    };
    case(upload(&server, "/feeds/ann/none/upload", b"x"), 404, "not_found", "FEED_NOT_FOUND");
    case(upload(&server, "/feeds/ann/a%20b/upload", b"x"), 400, "invalid_argument", "WRONG_NAMESPACE");
    case(upload(&server, "/feeds/ann/a%2Fb/upload", b"x"), 400, "invalid_argument", "WRONG_NAMESPACE");
    case(upload(&server, "/feeds/ann/default/upload", b""), 400, "invalid_argument", "the file is empty");
    let large = vec![b'x'; (1 << 20) + 1];
    case(
        upload(&server, "/feeds/ann/default/upload", &large),
        413,
        "resource_exhausted",
        "larger than 1 MiB",
    );
    let mut chunked = b"POST /feeds/ann/default/upload HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
        transfer-encoding: chunked\r\n\r\n100001\r\n"
        .to_vec();
    chunked.extend_from_slice(&large);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    case(send(&server, &chunked), 413, "resource_exhausted", "larger than 1 MiB");
    let form = "POST /feeds/ann/default/upload HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
        content-type: multipart/form-data; boundary=x\r\ncontent-length: 0\r\n\r\n";
    case(server.ask(form), 400, "invalid_argument", "--data-binary");
    assert_eq!(server.get("/feeds/ann/default/upload").status, 405);

    case(server.get("/feeds/ann/default/loads/1/problems.csv"), 404, "not_found", "LOAD_NOT_FOUND");
    case(server.get("/feeds/ann/none/loads/1/problems.csv"), 404, "not_found", "FEED_NOT_FOUND");
    case(server.get("/feeds/ann/default/loads/0/problems.csv"), 400, "invalid_argument", "WRONG_NUMBER");
    case(server.get("/feeds/ann/default/loads/x/problems.xlsx"), 400, "invalid_argument", "WRONG_NUMBER");
    let german = server.get("/feeds/ann/default/loads/1/problems.csv?language=de");
    case(german, 400, "invalid_argument", "UNKNOWN_LANGUAGE");
    case(server.get("/feeds/ann/default/loads/1/problems.pdf"), 404, "not_found", "no such path");
    assert!(feeds(&server, "ListLoads", &json!({"seller": "ann"}))["loads"].is_null(), "nothing was taken");
    let spool = std::fs::read_dir(server.folder.path().join("data/spool")).unwrap();
    assert_eq!(spool.count(), 0, "nothing is left on the disk");
}

#[test]
fn the_paths_of_an_answer_lead_to_the_report_whatever_the_seller_is_called() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    create(&server, &json!({"seller": "Мебель/7"}));
    let answer =
        upload(&server, "/feeds/%D0%9C%D0%B5%D0%B1%D0%B5%D0%BB%D1%8C%2F7/default/upload", b"anything");
    let told = answer.json();
    assert_eq!(told["seller"], "Мебель/7");
    let report = server.get(told["problems"][0].as_str().unwrap());
    assert!(report.status == 200 && report.body.starts_with("\u{feff}offer id,"), "{report:?}");
}

#[test]
fn a_file_that_is_no_feed_fails_its_load_with_the_reason() {
    let server = Server::start(&[("TORG_STORE_URL", "memory:")]);
    create(&server, &json!({"seller": "ann", "namespace": "second"}));
    upload(&server, "/feeds/ann/second/upload", b"%PDF-1.7 this is a leaflet");
    let load = ended(&server, "second", "1");
    assert_eq!(
        (&load["state"], &load["failure"]["code"]),
        (&json!("STATE_FAILED"), &json!("unknown_format"))
    );
    assert!(load["failure"]["remedy"].as_str().unwrap().contains("YML"), "{load}");
}
