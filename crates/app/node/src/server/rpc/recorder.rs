//! An interceptor that records actions in the audit log.
//!
//! [`is_action`] decides which calls are recorded. A call is recorded with its outcome, also if it
//! was refused, failed, or was cancelled by its client. If it cannot be recorded, the log says so
//! and the call is not affected.

use std::sync::Arc;

use access::{Caller, Role};
use buffa::encoding::{Tag, skip_field};
use buffa_descriptor::reflect::DynamicMessage;
use buffa_descriptor::{
    DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, MethodDescriptor, SingularKind,
};
use connectrpc::interceptor::{UnaryRequest, UnaryResponse};
use connectrpc::{CodecFormat, ConnectError, IdempotencyLevel, Interceptor, Next, Payload};
use serde_json::Value;

use crate::actions::limits::{FIELD_BYTES_MAX, FIELDS_LOOKED_AT_MAX, REQUEST_BYTES_READ_MAX};
use crate::actions::{Actions, Beginning, Failure, Noted, is_own_feed, shown};

pub(super) struct Recorder {
    actions: Actions,
    pool: Arc<DescriptorPool>,
}

impl Recorder {
    pub(super) fn new(actions: Actions, pool: Arc<DescriptorPool>) -> Recorder {
        Recorder { actions, pool }
    }

    /// Starts recording a call, if it has to be recorded.
    fn begin(&self, request: &UnaryRequest) -> Option<Noted> {
        let context = &request.ctx;
        let spec = context.spec()?;
        if spec.idempotency_level == IdempotencyLevel::NoSideEffects {
            return None;
        }
        let caller = context.extensions().get::<Caller>()?;
        let in_console = context.extensions().get::<console::FromConsole>().is_some();
        let (service, method) = context.path()?.trim_start_matches('/').split_once('/')?;
        if !is_action(service, method, caller, in_console) {
            return None;
        }
        let is_whole = request.payload.bytes().len() <= REQUEST_BYTES_READ_MAX;
        let request = self.read(service, method, &request.payload);
        if service == FEEDS && !in_console {
            let seller = named_seller(&request);
            // A missing seller means the caller's own feed. Of a large request only some fields
            // were read, so the name may be missing there.
            if is_own_feed(caller, seller) && (is_whole || seller.is_some()) {
                return None;
            }
        }
        let method = format!("{service}/{method}");
        let about = shown::about(&method, &request);
        Some(self.actions.begin(Beginning { caller, in_console, method, about, request }))
    }

    /// The request as JSON with the field names of the `.proto` files, or a note why it could not
    /// be read. Of a large request, or of one with an unknown type in an `Any`, only the plain
    /// fields.
    fn read(&self, service: &str, method: &str, payload: &Payload) -> Value {
        let unread = |why: &str| Value::String(format!("({why})"));
        let bytes = payload.bytes();
        let method = self.pool.service_by_name(service).and_then(|service| service.method(method));
        let Some(input) = method.map(MethodDescriptor::input) else { return unread("not described") };
        let pool = Arc::clone(&self.pool);
        let is_json = payload.format() == CodecFormat::Json;
        let is_large = bytes.len() > REQUEST_BYTES_READ_MAX;
        let whole = match std::str::from_utf8(bytes) {
            _ if is_large => None,
            Ok(text) if is_json => as_json(DynamicMessage::from_json(pool, input, text).ok()),
            Err(_) if is_json => None,
            _ => as_json(DynamicMessage::decode(pool, input, bytes).ok()),
        };
        if let Some(whole) = whole {
            return whole;
        }
        let plain = if is_json { None } else { self.plain_fields(input, bytes) };
        match plain {
            Some(Value::Object(mut plain)) => {
                plain.insert("bytes".to_owned(), bytes.len().into());
                Value::Object(plain)
            }
            _ if is_large => unread(&format!("{} bytes", bytes.len())),
            _ => unread("it cannot be read"),
        }
    }

    /// The short scalar fields at the top level of a request, among its first fields. Large fields
    /// are skipped without decoding.
    fn plain_fields(&self, input: MessageIndex, bytes: &[u8]) -> Option<Value> {
        let fields = self.pool.message(input);
        let (mut rest, mut plain) = (bytes, Vec::new());
        for _ in 0..FIELDS_LOOKED_AT_MAX {
            if rest.is_empty() {
                break;
            }
            let before = rest;
            let tag = Tag::decode(&mut rest).ok()?;
            skip_field(tag, &mut rest).ok()?;
            let field = &before[..before.len() - rest.len()];
            let kind = fields.field(tag.field_number()).map(FieldDescriptor::kind);
            let is_plain =
                matches!(kind, Some(FieldKind::Singular(SingularKind::Scalar(_) | SingularKind::Enum(_))));
            if is_plain && field.len() <= FIELD_BYTES_MAX {
                plain.extend_from_slice(field);
            }
        }
        as_json(DynamicMessage::decode(Arc::clone(&self.pool), input, &plain).ok())
    }
}

fn as_json(message: Option<DynamicMessage>) -> Option<Value> {
    serde_json::from_str(&message?.to_json().ok()?).ok()
}

const FEEDS: &str = "torg.feeds.v1.FeedService";

/// Whether a call that changes something is recorded. Calls of people to services not listed here
/// are recorded too, so that new services are covered by default.
fn is_action(service: &str, method: &str, caller: &Caller, in_console: bool) -> bool {
    // Health and reflection change nothing. An anonymous caller has no name to record.
    if caller.is_anonymous() || !service.starts_with("torg.") {
        return false;
    }
    // Callers in the console are people, sellers included.
    if in_console {
        return true;
    }
    match service {
        "torg.stages.v1.StageAdminService"
        | "torg.tasks.v1.TaskService"
        | "torg.access.v1.KeyService"
        | FEEDS => true,
        "torg.topics.v1.TopicService" if method == "CreateTopic" => true,
        // The daily work of services and sellers is not recorded: offers, drafts, verdicts, values,
        // messages, states of stages. Offers and values keep the author of every change themselves.
        // Without access control people and programs cannot be told apart, and a second commit for
        // every offer would be expensive.
        _ => is_person(caller),
    }
}

/// True for staff, and false for programs.
fn is_person(caller: &Caller) -> bool {
    let has = |role| caller.roles.has(role);
    let is_staff = has(Role::Admin) || has(Role::Moderator) || has(Role::Support);
    is_staff && !has(Role::Service)
}

/// The seller of the feed that a request names. Sellers' calls on their own feeds are not recorded.
fn named_seller(request: &Value) -> Option<&str> {
    let at = |path| request.pointer(path).and_then(Value::as_str).filter(|seller| !seller.is_empty());
    at("/seller").or_else(|| at("/feed/seller"))
}

#[connectrpc::async_trait]
impl Interceptor for Recorder {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, ConnectError> {
        let noted = self.begin(&request);
        let answer = next.run(request).await;
        if let Some(noted) = noted {
            let failure = answer.as_ref().err().map(|error| Failure {
                code: error.code.as_str(),
                text: error.message.as_deref().unwrap_or_default(),
            });
            noted.end(failure).await;
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use access::{Proof, Roles};
    use buffa::Message;
    use buffa_types::google::protobuf::Any;
    use serde_json::json;
    use wire::torg::stages::v1::{PauseStageRequest, SetStateRequest};
    use wire::torg::tasks::v1::{ApplyTasksRequest, TaskFile};

    use super::*;

    fn caller(roles: &[Role], seller: Option<&str>) -> Caller {
        Caller {
            subject: "somebody".to_owned(),
            seller: seller.map(str::to_owned),
            anonymous: None,
            roles: roles.iter().copied().collect::<Roles>(),
            proof: Proof::Token { issuer: String::new() },
        }
    }

    #[test]
    fn what_people_do_to_offers_and_values_is_noted_and_what_programs_and_sellers_do_all_day_is_not() {
        for service in [
            "offers.v1.OfferService",
            "offers.v1.DraftService",
            "offers.v1.ModerationService",
            "tasks.v1.CtlService",
        ] {
            let is_noted = |caller: &Caller| is_action(&format!("torg.{service}"), "Change", caller, false);
            for role in [Role::Admin, Role::Moderator, Role::Support] {
                assert!(is_noted(&caller(&[role], None)), "{service} {role}");
                assert!(!is_noted(&caller(&[role, Role::Service], None)), "{service} {role}");
            }
            assert!(!is_noted(&Caller::local()), "{service}: whoever that is");
            assert!(!is_noted(&caller(&[Role::Service], None)), "{service}");
            assert!(!is_noted(&caller(&[Role::Seller], Some("ann"))), "{service}");
        }
    }

    #[test]
    fn changes_of_how_torg_works_are_noted_of_whoever_is_known() {
        for (service, method) in [
            ("stages.v1.StageAdminService", "PauseStage"),
            ("tasks.v1.TaskService", "RunTask"),
            ("access.v1.KeyService", "CreateKey"),
            ("topics.v1.TopicService", "CreateTopic"),
        ] {
            let is_noted = |caller: &Caller| is_action(&format!("torg.{service}"), method, caller, false);
            assert!(is_noted(&caller(&[Role::Service], None)) && is_noted(&caller(&[Role::Seller], None)));
            assert!(!is_noted(&Caller::anonymous(None)), "{service}: whoever is not known is only refused");
        }
    }

    #[test]
    fn a_person_at_a_door_of_programs_is_noted_if_the_two_can_be_told_apart() {
        for (service, method) in
            [("topics.v1.TopicService", "AppendMessages"), ("stages.v1.StateService", "SetState")]
        {
            let is_noted = |caller: &Caller| is_action(&format!("torg.{service}"), method, caller, false);
            assert!(is_noted(&caller(&[Role::Admin], None)), "{service}");
            assert!(!is_noted(&caller(&[Role::Service], None)), "{service}");
            assert!(!is_noted(&Caller::local()), "{service}");
        }
    }

    #[test]
    fn every_call_that_changes_something_is_noted_of_an_admin_and_of_whoever_is_in_the_console() {
        let pool = DescriptorPool::decode(super::super::DESCRIPTORS).unwrap();
        let admin = caller(&[Role::Admin], None);
        let ann = caller(&[Role::Seller], Some("ann"));
        let ours = pool.services().iter().filter(|service| service.full_name().starts_with("torg."));
        for service in ours {
            assert!(is_action(service.full_name(), "Change", &admin, false), "{}", service.full_name());
            assert!(is_action(service.full_name(), "Change", &ann, true), "{}", service.full_name());
        }
        assert!(!is_action("grpc.health.v1.Health", "Check", &admin, false));
    }

    fn read(service: &str, method: &str, request: &impl Message) -> Value {
        let pool = Arc::new(DescriptorPool::decode(super::super::DESCRIPTORS).unwrap());
        let schema = store::Schema::new(1, crate::actions::tables()).unwrap();
        let store = store::Store::over(Arc::new(store::Memory::new(schema)), &store::StoreOptions::default());
        let recorder = Recorder::new(Actions::new(store, clock::Clock::system()), pool);
        recorder.read(service, method, &Payload::new(request.encode_to_vec().into(), CodecFormat::Proto))
    }

    #[tokio::test]
    async fn of_a_request_that_is_large_or_holds_what_is_not_described_the_plain_fields_are_read() {
        let long = "x".repeat(REQUEST_BYTES_READ_MAX + 1);
        let pause = PauseStageRequest { id: "expiry".to_owned(), reason: long.clone(), ..Default::default() };
        let service = "torg.stages.v1.StageAdminService";
        let known = read(service, "PauseStage", &pause);
        assert_eq!(known, json!({"id": "expiry", "bytes": pause.encode_to_vec().len()}));
        assert_eq!(shown::about(service, &known), "expiry");

        let file = TaskFile { text: long, ..Default::default() };
        let apply = ApplyTasksRequest { files: vec![file], reason: "why".to_owned(), ..Default::default() };
        let known = read("torg.tasks.v1.TaskService", "ApplyTasks", &apply);
        assert_eq!(known, json!({"reason": "why", "bytes": apply.encode_to_vec().len()}));

        let state = Any { type_url: "type.googleapis.com/of.nobody".to_owned(), ..Default::default() };
        let set = SetStateRequest {
            stage: "mine".to_owned(),
            id: "7".to_owned(),
            state: Some(state).into(),
            ..Default::default()
        };
        let known = read("torg.stages.v1.StateService", "SetState", &set);
        assert_eq!((&known["stage"], &known["id"], known.get("state")), (&json!("mine"), &json!("7"), None));
    }

    #[test]
    fn a_request_names_its_seller_or_means_the_caller() {
        assert_eq!(named_seller(&json!({"seller": "ann"})), Some("ann"));
        assert_eq!(named_seller(&json!({"feed": {"seller": "bob"}})), Some("bob"));
        assert_eq!(named_seller(&json!({"seller": "", "feed": {}})), None);
    }
}
