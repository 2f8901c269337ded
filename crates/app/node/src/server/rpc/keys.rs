//! Implements `torg.access.v1.KeyService`.

use std::time::Duration;

use access::{Action, ApiKey, ApiKeys, NewKey, Role, Roles, Time};
use buffa_types::google::protobuf::Timestamp;
use connectrpc::{ConnectError, RequestContext, Response, ServiceResult};

use super::callers::require;
use wire::torg::access::v1 as proto;

pub(super) struct KeysRpc {
    keys: ApiKeys,
}

impl KeysRpc {
    pub(super) fn new(keys: ApiKeys) -> KeysRpc {
        KeysRpc { keys }
    }
}

impl proto::KeyService for KeysRpc {
    async fn create_key(
        &self,
        context: RequestContext,
        request: proto::CreateKeyRequest,
    ) -> ServiceResult<proto::CreateKeyResponse> {
        require(&context, Action::Administer)?;
        let new = new_key(request)?;
        let (key, text) = self.keys.create(new).await.map_err(|error| rpc_error(&error))?;
        tracing::info!(id = key.id, name = key.name, roles = ?key.roles, "an API key was made");
        Response::ok(proto::CreateKeyResponse {
            key: wire_key(key).into(),
            text: text.expose(),
            ..Default::default()
        })
    }

    async fn list_keys(
        &self,
        context: RequestContext,
        _request: proto::ListKeysRequest,
    ) -> ServiceResult<proto::ListKeysResponse> {
        require(&context, Action::Administer)?;
        let keys = self.keys.list().await.map_err(|error| rpc_error(&error))?;
        let keys = keys.into_iter().map(wire_key).collect();
        Response::ok(proto::ListKeysResponse { keys, ..Default::default() })
    }

    async fn revoke_key(
        &self,
        context: RequestContext,
        request: proto::RevokeKeyRequest,
    ) -> ServiceResult<proto::RevokeKeyResponse> {
        require(&context, Action::Administer)?;
        let key = self.keys.revoke(&request.id).await.map_err(|error| rpc_error(&error))?;
        tracing::info!(id = key.id, name = key.name, "an API key was revoked");
        Response::ok(proto::RevokeKeyResponse { key: wire_key(key).into(), ..Default::default() })
    }
}

fn new_key(request: proto::CreateKeyRequest) -> Result<NewKey, ConnectError> {
    Ok(NewKey {
        name: request.name,
        roles: roles(&request.roles).map_err(|name| {
            let known = Role::ALL.map(Role::name).join(", ");
            ConnectError::invalid_argument(format!("roles: {name:?} is none of {known}"))
        })?,
        seller: (!request.seller.is_empty()).then_some(request.seller),
        lifetime: (request.lifetime_s > 0).then(|| Duration::from_secs(request.lifetime_s)),
    })
}

/// Parses role names; the error is the first unknown name.
fn roles(names: &[String]) -> Result<Roles, String> {
    names.iter().map(|name| Role::from_name(name).ok_or_else(|| name.clone())).collect()
}

fn wire_key(key: ApiKey) -> proto::Key {
    proto::Key {
        id: key.id,
        name: key.name,
        roles: key.roles.iter().map(|role| role.name().to_owned()).collect(),
        seller: key.seller.unwrap_or_default(),
        created: timestamp(key.created).into(),
        expires: key.expires.map(timestamp).into(),
        revoked: key.revoked.map(timestamp).into(),
        last_used: key.last_used.map(timestamp).into(),
        ..Default::default()
    }
}

/// Decodes a key. Roles that this version does not know are omitted.
pub fn key_from_wire(key: proto::Key) -> ApiKey {
    let time = |time: Timestamp| {
        Time::from_ms(time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000))
    };
    ApiKey {
        id: key.id,
        name: key.name,
        roles: key.roles.iter().filter_map(|name| Role::from_name(name)).collect(),
        seller: (!key.seller.is_empty()).then_some(key.seller),
        created: key.created.into_option().map(time).unwrap_or_default(),
        expires: key.expires.into_option().map(time),
        revoked: key.revoked.into_option().map(time),
        last_used: key.last_used.into_option().map(time),
    }
}

fn timestamp(time: Time) -> Timestamp {
    offers::time::from_time(time)
}

fn rpc_error(error: &access::Error) -> ConnectError {
    use access::Error as E;
    let message = error.to_string();
    match error {
        E::NewKey { .. } => ConnectError::invalid_argument(message),
        E::NoSuchKey { .. } => ConnectError::not_found(message),
        E::Busy { .. } => ConnectError::aborted(message),
        E::Store(error) if error.is_passing() => ConnectError::unavailable(message),
        _ => ConnectError::internal(message),
    }
}
