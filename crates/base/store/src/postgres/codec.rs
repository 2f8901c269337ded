//! Conversion between keys, rows and SQL columns.

use bytes::{Bytes, BytesMut};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::errors::{PgError, engine, one_line};
use crate::key::{Key, KeyValue};
use crate::row::Row;
use crate::table::{ColumnType, Kind, TableDef};
use crate::{Error, Result};

type SqlResult = Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;
/// Parameters of one statement.
pub(super) type Params<'a> = Vec<&'a (dyn ToSql + Sync)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<KeyValue> for Scalar {
    fn from(value: KeyValue) -> Self {
        match value {
            KeyValue::U32(v) => Self::Int(v.into()),
            KeyValue::I64(v) => Self::Int(v),
            KeyValue::Text(v) => Self::Text(v),
            KeyValue::Bytes(v) => Self::Bytes(v),
        }
    }
}

impl ToSql for Scalar {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> SqlResult {
        match self {
            Self::Int(v) => v.to_sql(ty, out),
            Self::Text(v) => v.to_sql(ty, out),
            Self::Bytes(v) => v.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

/// One value for each row.
#[derive(Clone, Debug)]
pub(super) enum Column {
    Ints(Vec<i64>),
    Texts(Vec<String>),
    Bytes(Vec<Vec<u8>>),
}

impl Column {
    fn new(ty: ColumnType, rows: usize) -> Self {
        match ty {
            ColumnType::U32 | ColumnType::I64 => Self::Ints(Vec::with_capacity(rows)),
            ColumnType::Text => Self::Texts(Vec::with_capacity(rows)),
            ColumnType::Bytes => Self::Bytes(Vec::with_capacity(rows)),
        }
    }

    /// `false` if the value has another type.
    fn push(&mut self, value: KeyValue) -> bool {
        match (self, value) {
            (Self::Ints(column), KeyValue::U32(v)) => column.push(v.into()),
            (Self::Ints(column), KeyValue::I64(v)) => column.push(v),
            (Self::Texts(column), KeyValue::Text(v)) => column.push(v),
            (Self::Bytes(column), KeyValue::Bytes(v)) => column.push(v),
            _ => return false,
        }
        true
    }
}

impl ToSql for Column {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> SqlResult {
        match self {
            Self::Ints(v) => v.to_sql(ty, out),
            Self::Texts(v) => v.to_sql(ty, out),
            Self::Bytes(v) => v.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::BYTEA_ARRAY].contains(ty)
    }

    to_sql_checked!();
}

pub(super) fn columns_of<'a>(
    table: &TableDef,
    keys: impl ExactSizeIterator<Item = &'a Key>,
) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = table.types.iter().map(|ty| Column::new(*ty, keys.len())).collect();
    for key in keys {
        for (column, value) in columns.iter_mut().zip(key.values()?) {
            if !column.push(value) {
                return Err(key.malformed());
            }
        }
    }
    Ok(columns)
}

pub(super) fn scalars_of(key: &Key) -> Result<Vec<Scalar>> {
    Ok(key.values()?.into_iter().map(Scalar::from).collect())
}

pub(super) fn params<T: ToSql + Sync>(values: &[T]) -> Params<'_> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

pub(super) fn scalars_from(table: &TableDef, row: &tokio_postgres::Row, first: usize) -> Result<Vec<Scalar>> {
    let value = |(i, ty): (usize, &ColumnType)| {
        Ok(match ty {
            ColumnType::U32 | ColumnType::I64 => Scalar::Int(row.try_get(first + i)?),
            ColumnType::Text => Scalar::Text(row.try_get(first + i)?),
            ColumnType::Bytes => Scalar::Bytes(row.try_get(first + i)?),
        })
    };
    let values: Result<Vec<Scalar>, PgError> = table.types.iter().enumerate().map(value).collect();
    values.map_err(|error| undecodable(&error))
}

/// The key columns begin at column `first`.
pub(super) fn key_from(table: &'static TableDef, row: &tokio_postgres::Row, first: usize) -> Result<Key> {
    key_of(table, scalars_from(table, row, first)?)
}

pub(super) fn key_of(table: &'static TableDef, columns: Vec<Scalar>) -> Result<Key> {
    let mut values = Vec::with_capacity(columns.len());
    for (column, ty) in columns.into_iter().zip(table.types) {
        values.push(match (column, ty) {
            (Scalar::Int(v), ColumnType::U32) => {
                let small = u32::try_from(v);
                KeyValue::U32(small.map_err(|_| corrupt(table, &format!("{v} is not a number of 32 bits")))?)
            }
            (Scalar::Int(v), _) => KeyValue::I64(v),
            (Scalar::Text(v), _) => KeyValue::Text(v),
            (Scalar::Bytes(v), _) => KeyValue::Bytes(v),
        });
    }
    Ok(Key::encode(table, &values))
}

/// The value columns begin at column `first`.
pub(super) fn row_from(key: Key, row: &tokio_postgres::Row, first: usize) -> Result<Row> {
    let bytes = |i| row.try_get::<_, &[u8]>(i).map(Bytes::copy_from_slice);
    let read = || {
        Ok(match key.table().kind {
            Kind::Versioned => (row.try_get::<_, i64>(first)?.cast_unsigned(), bytes(first + 1)?),
            Kind::Plain => (0, bytes(first)?),
            Kind::Counter => (0, Bytes::copy_from_slice(&row.try_get::<_, i64>(first)?.to_be_bytes())),
        })
    };
    let (version, value) = read().map_err(|error: PgError| undecodable(&error))?;
    Ok(Row { key, version, value })
}

/// The columns do not have the types of our tables.
pub(super) fn undecodable(error: &PgError) -> Error {
    engine(format!("a column is not of the type that it was created with: {}", one_line(error)))
}

pub(super) fn corrupt(table: &TableDef, detail: &str) -> Error {
    Error::Corrupt { place: format!("table {table}"), detail: detail.to_owned() }
}
