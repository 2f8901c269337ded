//! Around the services: notes what people and programs do that changes how Torg works.
//!
//! Which calls are noted stands in [`is_action`]. A call is noted with what came of it, also if it was refused, failed, or its client went away. That it cannot be
//! noted is in the log and changes nothing for the call.

use std::sync::Arc;

use access::{Caller, Role};
use buffa_descriptor::reflect::DynamicMessage;
use buffa_descriptor::{DescriptorPool, MethodDescriptor};
use connectrpc::interceptor::{UnaryRequest, UnaryResponse};
use connectrpc::{CodecFormat, ConnectError, IdempotencyLevel, Interceptor, Next, Payload};
use serde_json::Value;

use crate::actions::limits::REQUEST_BYTES_READ_MAX;
use crate::actions::{Actions, Beginning, Failure, Noted, is_own_feed, shown};

pub(super) struct Recorder {
    actions: Actions,
    pool: Arc<DescriptorPool>,
}

impl Recorder {
    pub(super) fn new(actions: Actions, pool: Arc<DescriptorPool>) -> Recorder {
        Recorder { actions, pool }
    }

    /// The call as it will be noted, if it is to be noted.
    fn begin(&self, request: &UnaryRequest) -> Option<Noted> {
        let context = &request.ctx;
        let spec = context.spec()?;
        if spec.idempotency_level == IdempotencyLevel::NoSideEffects {
            return None;
        }
        let caller = context.extensions().get::<Caller>()?;
        let in_console = context.extensions().get::<console::Through>().is_some();
        let (service, method) = context.path()?.trim_start_matches('/').split_once('/')?;
        if !is_action(service, method, caller, in_console) {
            return None;
        }
        let request = self.read(service, method, &request.payload);
        if service == FEEDS && !in_console && is_own_feed(caller, named_seller(&request)) {
            return None;
        }
        let about = shown::about(service, &request);
        let method = format!("{service}/{method}");
        Some(self.actions.begin(Beginning { caller, in_console, method, about, request }))
    }

    /// The request as JSON, with the names of the contract; what cannot be read says so.
    fn read(&self, service: &str, method: &str, payload: &Payload) -> Value {
        let unread = |why: &str| Value::String(format!("({why})"));
        let bytes = payload.bytes();
        if bytes.len() > REQUEST_BYTES_READ_MAX {
            return unread(&format!("{} bytes", bytes.len()));
        }
        let method = self.pool.service_by_name(service).and_then(|service| service.method(method));
        let Some(input) = method.map(MethodDescriptor::input) else { return unread("not described") };
        let pool = Arc::clone(&self.pool);
        let message = match payload.format() {
            CodecFormat::Json => {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                DynamicMessage::from_json(pool, input, text).ok()
            }
            _ => DynamicMessage::decode(pool, input, bytes).ok(),
        };
        let json = message.and_then(|message| message.to_json().ok());
        json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_else(|| unread("it cannot be read"))
    }
}

const FEEDS: &str = "torg.feeds.v1.FeedService";

/// Whether a call that changes something is an action that is noted. A service that is not named here is noted of people, so that none that comes later is forgotten.
fn is_action(service: &str, method: &str, caller: &Caller, in_console: bool) -> bool {
    // Health and reflection are no services of ours. Of somebody who is not known there is no name to note.
    if caller.is_anonymous() || !service.starts_with("torg.") {
        return false;
    }
    // Who clicks is a person, sellers too.
    if in_console {
        return true;
    }
    match service {
        "torg.stages.v1.StageAdminService"
        | "torg.tasks.v1.TaskService"
        | "torg.access.v1.KeyService"
        | FEEDS => true,
        "torg.topics.v1.TopicService" if method == "CreateTopic" => true,
        // Offers, drafts, opinions, values, messages, states of stages: what services and sellers do all day is no action. Offers and values keep the author of every
        // change themselves. Where access is off nobody can tell people and programs apart, and a second commit for every offer would be dear.
        _ => is_person(caller),
    }
}

/// One of those who run the marketplace, and no program of it.
fn is_person(caller: &Caller) -> bool {
    let has = |role| caller.roles.has(role);
    let is_staff = has(Role::Admin) || has(Role::Moderator) || has(Role::Support);
    is_staff && !has(Role::Service)
}

/// The seller whose feed a request names. A seller's feeds are the seller's own business.
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
    use serde_json::json;

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

    #[test]
    fn a_request_names_its_seller_or_means_the_caller() {
        assert_eq!(named_seller(&json!({"seller": "ann"})), Some("ann"));
        assert_eq!(named_seller(&json!({"feed": {"seller": "bob"}})), Some("bob"));
        assert_eq!(named_seller(&json!({"seller": "", "feed": {}})), None);
    }
}
