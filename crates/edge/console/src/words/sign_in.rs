//! Signing in.

pub(super) const WORDS: super::Words = &[
    (
        "This token is too long for a browser to keep. Take an API key, or a token with fewer claims.",
        "Токен слишком длинный, браузер его не сохранит. Возьмите API-ключ или токен с меньшим числом полей.",
    ),
    ("Sign in", "Войти"),
    ("Sign in to Torg", "Вход в Torg"),
    ("You are not signed in any more.", "Сеанс закончился."),
    (
        "This form came from another site, or through a proxy that does not hand on the header Host.",
        "Эта форма пришла с другого сайта или через прокси, который не передаёт заголовок Host.",
    ),
    ("Show an API key or a token.", "Введите API-ключ или токен."),
    ("This key or token is not valid.", "Этот ключ или токен недействителен."),
    (
        "The store does not answer: no key can be checked now. Try again.",
        "Хранилище не отвечает, проверить ключ сейчас нельзя. Попробуйте ещё раз.",
    ),
    ("Too many attempts. Wait a moment.", "Слишком много попыток. Подождите немного."),
    ("Choose a role; for a seller, say which one.", "Выберите роль; для продавца укажите, какого именно."),
    ("API key or token", "API-ключ или токен"),
    ("Whoever runs Torg makes keys:", "Ключи выдаёт тот, кто управляет Torg:"),
    (
        "Access is off: everybody on this machine may do everything. Choose as what you want to see the console.",
        "Проверка доступа выключена: с этой машины можно всё. Выберите, в какой роли смотреть консоль.",
    ),
    ("Or a seller:", "Или продавец:"),
];
