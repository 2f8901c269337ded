//! Recorded actions.

pub(super) const WORDS: super::Words = &[
    (
        "Everything that somebody did that changes how Torg works, with their name: also what was refused.",
        "Всё, что меняет работу Торга: кто и что сделал, включая отклонённые попытки.",
    ),
    ("About", "О чём"),
    ("Nobody did anything of the kind yet.", "Таких действий ещё не было."),
    ("Who", "Кто"),
    ("What", "Что"),
    ("Outcome", "Итог"),
    ("Request", "Запрос"),
];
