//! Authorization of calls to RPC services.

use access::{Action, Caller, Verdict};
use connectrpc::{ConnectError, RequestContext};

/// The caller that the gate admitted. Every path that is not open has one; without a caller the
/// call is refused.
fn caller(context: &RequestContext) -> Result<&Caller, ConnectError> {
    context
        .extensions()
        .get::<Caller>()
        .ok_or_else(|| ConnectError::unauthenticated("nobody is known to call"))
}

/// Refuses the call unless its caller may perform `action`.
pub(super) fn require(context: &RequestContext, action: Action) -> Result<(), ConnectError> {
    match caller(context)?.judge(action) {
        Verdict::Allowed => Ok(()),
        Verdict::SignIn => Err(ConnectError::unauthenticated("this needs a bearer token")),
        Verdict::Forbidden | Verdict::Missing => {
            Err(ConnectError::permission_denied("the roles of this caller do not suffice"))
        }
    }
}

#[cfg(test)]
mod tests {
    use connectrpc::ErrorCode;

    use super::*;

    #[test]
    fn a_call_that_did_not_come_through_the_gate_may_do_nothing() {
        let mut context = RequestContext::default();
        assert_eq!(require(&context, Action::ReadPublic).unwrap_err().code, ErrorCode::Unauthenticated);
        context.extensions_mut().insert(Caller::anonymous(None));
        assert!(require(&context, Action::ReadPublic).is_ok());
        assert_eq!(require(&context, Action::Administer).unwrap_err().code, ErrorCode::Unauthenticated);
        context.extensions_mut().insert(Caller::local());
        assert!(require(&context, Action::Administer).is_ok());
    }
}
