//! Recorded actions.

pub(super) const WORDS: super::Words = &[
    (
        "Everything that somebody did that changes how Torg works, with their name: also what was refused.",
        "Всё, что меняет работу Torg: кто и что сделал, включая отклонённые попытки.",
    ),
    ("About", "Объект"),
    ("Nobody did anything of the kind yet.", "Таких действий ещё не было."),
    ("Who", "Кто"),
    ("What", "Что"),
    ("Outcome", "Итог"),
    ("Request", "Запрос"),
    ("all of it", "все действия с ним"),
    ("Only what failed or was refused", "Только неудачные и отклонённые"),
    (
        "None of the actions looked at so far; there are more to look at: go further.",
        "Среди просмотренных действий таких нет; есть ещё не просмотренные: перейдите дальше.",
    ),
    ("No action is so.", "Таких действий нет."),
];
