//! Labels of reports.

use crate::{Language, Severity};

pub(super) struct Labels {
    pub(super) error: &'static str,
    pub(super) warning: &'static str,
    pub(super) errors: &'static str,
    pub(super) warnings: &'static str,
    pub(super) offer: &'static str,
    pub(super) no_format: &'static str,
    pub(super) no_encoding: &'static str,
    /// Offers, accepted, rejected, warnings.
    pub(super) counts: fn(&[String; 4]) -> String,
    pub(super) withdrawn: fn(&str) -> String,
    pub(super) more: fn(&str) -> String,
    pub(super) same: fn(&str) -> String,
    pub(super) broken: fn(&str) -> String,
}

static ENGLISH: Labels = Labels {
    error: "error",
    warning: "warning",
    errors: "errors",
    warnings: "warnings",
    offer: "offer",
    no_format: "unknown format",
    no_encoding: "unknown encoding",
    counts: |[offers, accepted, rejected, warnings]| {
        let s = if offers == "1" { "" } else { "s" };
        let w = if warnings == "1" { "" } else { "s" };
        format!("{offers} offer{s}: {accepted} accepted, {rejected} rejected, {warnings} warning{w}")
    },
    withdrawn: |count| format!("accepted, but not available and not shown to buyers: {count}"),
    more: |count| format!("... and {count} more like this"),
    same: |count| format!("the same in {count} other places"),
    broken: |at| format!("the file was not read to its end ({at}): no offer is removed"),
};

static RUSSIAN: Labels = Labels {
    error: "ошибка",
    warning: "предупреждение",
    errors: "ошибки",
    warnings: "предупреждения",
    offer: "объявление",
    no_format: "неизвестный формат",
    no_encoding: "неизвестная кодировка",
    counts: |[offers, accepted, rejected, warnings]| {
        format!(
            "объявлений: {offers}, принято: {accepted}, отклонено: {rejected}, предупреждений: {warnings}"
        )
    },
    withdrawn: |count| format!("из принятых нет в наличии: {count}; покупатели их не увидят"),
    more: |count| format!("... и ещё таких же: {count}"),
    same: |count| format!("то же самое ещё в {count} местах"),
    broken: |at| format!("файл прочитан не до конца ({at}): объявления, которых в нём нет, не удаляются"),
};

impl Labels {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::Russian => &RUSSIAN,
        }
    }

    pub(super) fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.warning,
        }
    }
}
