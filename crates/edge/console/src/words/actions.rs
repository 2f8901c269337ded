//! Recorded actions.

pub(super) const WORDS: super::Words = &[
    (
        "Every action that changes how Torg works, with its author; refused ones too.",
        "Всё, что меняет работу Torg: кто и что сделал, включая отклонённые попытки.",
    ),
    ("About", "Объект"),
    ("No actions yet.", "Таких действий ещё не было."),
    ("Who", "Кто"),
    ("What", "Что"),
    ("Outcome", "Итог"),
    ("Request", "Запрос"),
    ("all actions on it", "все действия с ним"),
    ("Only failed or refused", "Только неудачные и отклонённые"),
    (
        "No such actions on this page; there may be more on the next ones.",
        "Среди просмотренных действий таких нет; есть ещё не просмотренные: перейдите дальше.",
    ),
    ("No matching actions.", "Таких действий нет."),
];
