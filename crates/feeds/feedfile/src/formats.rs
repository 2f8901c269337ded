//! The formats, one file each: how a file is split and how an offer is parsed.

pub(crate) mod avito;
pub(crate) mod google;
pub(crate) mod own_json;
pub(crate) mod own_xml;
pub(crate) mod yml;

use crate::draft::{Context, Draft, Spot};
use crate::header::Header;
use crate::limits::SCHEMA_NODES_MAX;
use crate::position::Position;
use crate::reader::Item;
use crate::schema::{Schema, is_surely_valid};
use crate::split::{Flaw, Piece, RawBatch};
use crate::xml::{Dialect, Element, Repaired, Tree, repair};
use crate::{Code, delimited};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    OwnXml,
    OwnJson,
    /// A seller's profile with offers, scraped from another site.
    ParsedProfile,
    Yml,
    Avito,
    GoogleRss,
    GoogleAtom,
    /// Google Merchant, a table with tabs.
    GoogleTsv,
    /// Google Merchant, a table with commas or semicolons.
    GoogleCsv,
}

impl Format {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnXml => "torg_xml",
            Self::OwnJson => "torg_json",
            Self::ParsedProfile => "parsed_profile",
            Self::Yml => "yml",
            Self::Avito => "avito",
            Self::GoogleRss => "google_rss",
            Self::GoogleAtom => "google_atom",
            Self::GoogleTsv => "google_tsv",
            Self::GoogleCsv => "google_csv",
        }
    }

    /// How a format that is XML is split.
    pub(crate) fn dialect(self) -> Option<&'static Dialect> {
        match self {
            Self::OwnXml => Some(&own_xml::DIALECT),
            Self::Yml => Some(&yml::DIALECT),
            Self::Avito => Some(&avito::DIALECT),
            Self::GoogleRss => Some(&google::RSS),
            Self::GoogleAtom => Some(&google::ATOM),
            Self::OwnJson | Self::ParsedProfile | Self::GoogleTsv | Self::GoogleCsv => None,
        }
    }
}

/// Parses batches of one format. Each thread has one.
pub(crate) struct Parser {
    format: Format,
    currency: String,
    schema: Option<Schema>,
}

impl Parser {
    pub(crate) fn new(format: Format, currency: &str) -> Self {
        let schema = (format == Format::OwnXml).then(Schema::offers);
        Self { format, currency: currency.to_owned(), schema }
    }

    pub(crate) fn parse(&self, batch: &RawBatch) -> Vec<Item> {
        batch.pieces.iter().map(|piece| self.parse_piece(batch, piece)).collect()
    }

    fn parse_piece(&self, batch: &RawBatch, piece: &Piece) -> Item {
        let text = &batch.text[piece.start..piece.end];
        let context = self.context(&batch.header);
        if let Flaw::Broken(code, message) = piece.flaw {
            let mut draft = Draft::new(text, piece.at, None, context);
            salvage_id(&mut draft, text);
            draft.problem(code, "", "", 0, message);
            return draft.end();
        }
        match self.format {
            Format::OwnXml => self.parse_xml(text, piece, context, own_xml::parse),
            Format::Yml => self.parse_xml(text, piece, context, yml::parse),
            Format::Avito => self.parse_xml(text, piece, context, avito::parse),
            Format::GoogleRss | Format::GoogleAtom => self.parse_xml(text, piece, context, google::parse),
            Format::OwnJson | Format::ParsedProfile => {
                own_json::parse(text, piece.at, context, self.format == Format::ParsedProfile)
            }
            Format::GoogleTsv | Format::GoogleCsv => delimited::parse(text, piece.at, context),
        }
    }

    fn context<'c>(&'c self, header: &'c Header) -> Context<'c> {
        Context { header, currency: &self.currency }
    }

    fn parse_xml(
        &self,
        text: &str,
        piece: &Piece,
        context: Context<'_>,
        parse: fn(Element<'_, '_>, Draft<'_>) -> Item,
    ) -> Item {
        let repaired = repair(text, piece.flaw == Flaw::BareLess);
        let mended = (!repaired.mended.is_empty()).then_some(&repaired);
        let tree = match Tree::parse(&repaired.text) {
            Ok(tree) => tree,
            Err(error) => {
                let mut draft = Draft::new(text, piece.at, mended, context);
                salvage_id(&mut draft, text);
                draft.problem(error.code, "", "", error.offset, error.message);
                return draft.end();
            }
        };
        let mut draft = Draft::new(text, piece.at, mended, context);
        if let Some(offset) = tree.unclosed.first() {
            let message = format!("{} elements of HTML are not closed", tree.unclosed.len());
            draft.problem(Code::UnclosedTag, "", "", *offset, message);
        }
        match &self.schema {
            None => {}
            Some(_) if tree.size() > SCHEMA_NODES_MAX => {
                let message = format!("more than {SCHEMA_NODES_MAX} elements and attributes");
                draft.problem(Code::WrongStructure, "", "", 0, message);
            }
            Some(_) if is_surely_valid(&tree) => {}
            Some(schema) => validate(schema, &tree, &repaired, &mut draft),
        }
        parse(tree.root(), draft)
    }
}

fn validate(schema: &Schema, tree: &Tree<'_>, repaired: &Repaired<'_>, draft: &mut Draft<'_>) {
    for violation in schema.check(&repaired.text, tree.root()) {
        draft.problem(Code::WrongStructure, &violation.field, "", violation.offset, violation.message);
    }
}

/// Finds the id of an offer that cannot be read: the published offer of that id stays as it is.
fn salvage_id(draft: &mut Draft<'_>, text: &str) {
    const MARKS: [(&str, char); 7] = [
        (" id=\"", '"'),
        (" id='", '\''),
        ("<Id>", '<'),
        ("<g:id>", '<'),
        ("<id>", '<'),
        ("\"id\": \"", '"'),
        ("\"id\":\"", '"'),
    ];
    let found = MARKS.iter().filter_map(|(mark, end)| {
        let start = text.find(mark)? + mark.len();
        let length = text[start..].find(*end)?;
        Some((start, &text[start..start + length]))
    });
    if let Some((offset, id)) = found.min_by_key(|(offset, _)| *offset) {
        draft.id(Spot::new("id", id, offset));
    }
}

pub(crate) fn spot<'a>(element: &Element<'a, 'a>) -> Spot<'a> {
    Spot::new(element.name(), element.text(), element.text_offset())
}

pub(crate) fn ignore_other(_: &mut crate::split::Sink<'_>, _: &[String], _: Element<'_, '_>, _: Position) {}
