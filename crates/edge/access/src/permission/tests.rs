use super::*;
use crate::caller::{AnonymousId, Proof};
use crate::role::Roles;

/// The table once more, by who may, written down independently: a change of either has to be made
/// on purpose.
fn who_may(action: Action) -> &'static [Option<Role>] {
    use Role::{Admin, Moderator, Seller, Service, Support};
    match action {
        Action::ReadPublic => {
            &[None, Some(Seller), Some(Support), Some(Moderator), Some(Service), Some(Admin)]
        }
        Action::ReadOwn | Action::WriteOwn => &[None, Some(Seller)],
        Action::ReadAny | Action::SeeProcess => &[Some(Support), Some(Moderator), Some(Service), Some(Admin)],
        Action::SeeInternals => &[Some(Support), Some(Moderator), Some(Admin)],
        Action::Moderate | Action::ChangeAnyStatus => &[Some(Moderator), Some(Admin)],
        Action::WriteForSeller | Action::UseTopics | Action::UseStates => &[Some(Service), Some(Admin)],
        Action::Administer => &[Some(Admin)],
    }
}

fn everybody() -> impl Iterator<Item = Option<Role>> {
    std::iter::once(None).chain(Role::ALL.map(Some))
}

fn caller(roles: Roles, seller: Option<&str>) -> Caller {
    let proof = Proof::Token { issuer: "test".to_owned() };
    Caller {
        subject: "somebody".to_owned(),
        seller: seller.map(str::to_owned),
        anonymous: None,
        roles,
        proof,
    }
}

fn draft() -> AnonymousId {
    AnonymousId::new("0123456789abcdefghijklmnop").unwrap()
}

#[test]
fn every_action_is_open_to_exactly_those_who_may() {
    assert_eq!(TABLE.map(|(action, _)| action), Action::ALL, "one line for each action");
    for action in Action::ALL {
        for role in everybody() {
            assert_eq!(action.is_open_to(role), who_may(action).contains(&role), "{action:?} by {role:?}");
        }
    }
}

#[test]
fn several_roles_may_what_each_of_them_may() {
    for bits in 0..1_u8 << Role::ALL.len() {
        let roles: Roles = Role::ALL.into_iter().filter(|role| bits & (1 << *role as u8) != 0).collect();
        for action in Action::ALL {
            let by_role = roles.iter().any(|role| who_may(action).contains(&Some(role)));
            let expected = by_role || action == Action::ReadPublic;
            assert_eq!(caller(roles, None).may(action), expected, "{action:?} by {roles:?}");
        }
    }
}

#[test]
fn a_seller_reaches_only_their_own_and_anothers_looks_missing() {
    let seller = caller(Roles::NONE.with(Role::Seller), Some("s1"));
    assert_eq!(seller.judge_read(Owner::Seller("s1")), Verdict::Allowed);
    assert_eq!(seller.judge_write(Owner::Seller("s1")), Verdict::Allowed);
    assert_eq!(seller.judge_read(Owner::Seller("s2")), Verdict::Missing);
    assert_eq!(seller.judge_write(Owner::Seller("s2")), Verdict::Missing);
    assert_eq!(seller.judge_read(Owner::Anonymous(&draft())), Verdict::Missing);
    for action in [Action::Moderate, Action::ChangeAnyStatus, Action::SeeInternals] {
        assert_eq!(seller.judge_on(action, Owner::Seller("s2")), Verdict::Missing, "{action:?}");
        assert_eq!(seller.judge_on(action, Owner::Seller("s1")), Verdict::Forbidden, "{action:?}");
    }
}

#[test]
fn a_sellers_id_without_the_role_and_the_role_without_an_id_reach_nothing() {
    let no_role = caller(Roles::NONE, Some("s1"));
    assert_eq!(no_role.judge_read(Owner::Seller("s1")), Verdict::Missing);
    assert_eq!(no_role.judge_write(Owner::Seller("s1")), Verdict::Missing);
    let no_id = caller(Roles::NONE.with(Role::Seller), None);
    assert_eq!(no_id.judge_read(Owner::Seller("s1")), Verdict::Missing);
    assert_eq!(no_id.judge_read(Owner::Seller("")), Verdict::Missing);
}

#[test]
fn staff_read_everything_and_are_told_when_they_may_not_write() {
    let owner = Owner::Seller("s1");
    for (role, write, moderate) in [
        (Role::Support, Verdict::Forbidden, Verdict::Forbidden),
        (Role::Moderator, Verdict::Forbidden, Verdict::Allowed),
        (Role::Service, Verdict::Allowed, Verdict::Forbidden),
        (Role::Admin, Verdict::Allowed, Verdict::Allowed),
    ] {
        let caller = caller(Roles::NONE.with(role), None);
        assert_eq!(caller.judge_read(owner), Verdict::Allowed, "{role}");
        assert_eq!(caller.judge_write(owner), write, "{role}");
        assert_eq!(caller.judge_on(Action::Moderate, owner), moderate, "{role}");
    }
}

#[test]
fn an_anonymous_caller_has_only_their_draft() {
    let other = AnonymousId::new("zzzzzzzzzzzzzzzzzzzzzzzzzz").unwrap();
    let unknown = Caller::anonymous(Some(draft()));
    assert_eq!(unknown.judge_write(Owner::Anonymous(&draft())), Verdict::Allowed);
    assert_eq!(unknown.judge_write(Owner::Anonymous(&other)), Verdict::Missing);
    assert_eq!(unknown.judge_read(Owner::Seller("s1")), Verdict::Missing);
    assert_eq!(unknown.judge_on(Action::SeeInternals, Owner::Anonymous(&draft())), Verdict::SignIn);
    assert_eq!(unknown.judge(Action::WriteOwn), Verdict::Allowed);
    assert_eq!(Caller::anonymous(None).judge(Action::WriteOwn), Verdict::SignIn);
    assert_eq!(Caller::anonymous(None).judge(Action::ReadPublic), Verdict::Allowed);
    assert_eq!(unknown.judge(Action::Administer), Verdict::SignIn);
}

#[test]
fn a_seller_who_has_just_signed_in_still_has_the_draft_from_before() {
    let mut seller = caller(Roles::NONE.with(Role::Seller), Some("s1"));
    seller.anonymous = Some(draft());
    assert_eq!(seller.judge_write(Owner::Anonymous(&draft())), Verdict::Allowed);
    assert_eq!(seller.judge_write(Owner::Seller("s1")), Verdict::Allowed);
}

#[test]
fn with_access_off_the_local_caller_may_everything_that_is_anybodys() {
    let local = Caller::local();
    assert_eq!(local.judge_write(Owner::Seller("s1")), Verdict::Allowed);
    for action in Action::ALL.into_iter().filter(|a| !matches!(a, Action::ReadOwn | Action::WriteOwn)) {
        assert_eq!(local.judge(action), Verdict::Allowed, "{action:?}");
    }
}
