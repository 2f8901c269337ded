//! Signing in.

pub(super) const WORDS: super::Words = &[
    (
        "This token is too long for a cookie. Use an API key, or a token with fewer claims.",
        "Токен слишком длинный, браузер его не сохранит. Возьмите API-ключ или токен с меньшим числом полей.",
    ),
    ("Sign in", "Войти"),
    ("Sign in to Torg", "Вход в Torg"),
    (
        "This form came from another site, or through a proxy that does not forward the header Host.",
        "Эта форма пришла с другого сайта или через прокси, который не передаёт заголовок Host.",
    ),
    ("Enter an API key or a token.", "Введите API-ключ или токен."),
    ("This key or token is not valid.", "Этот ключ или токен недействителен."),
    (
        "The store does not answer, so the key cannot be checked now. Try again.",
        "Хранилище не отвечает, проверить ключ сейчас нельзя. Попробуйте ещё раз.",
    ),
    ("Too many attempts. Wait a moment.", "Слишком много попыток. Подождите немного."),
    ("Choose a role; for a seller, say which one.", "Выберите роль; для продавца укажите, какого именно."),
    ("API key or token", "API-ключ или токен"),
    ("The operator of Torg creates keys:", "Ключи выдаёт тот, кто управляет Torg:"),
    (
        "Access control is off: everyone on this machine may do everything. Choose a role to see the console as.",
        "Проверка доступа выключена: с этой машины можно всё. Выберите, в какой роли смотреть консоль.",
    ),
    ("Or a seller:", "Или продавец:"),
];
