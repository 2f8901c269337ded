"""An offer from its draft to its sale, by a stock client of gRPC: `first_day.py HOST:PORT`.

The modules are made from proto/ by protoc; see first_day.rs.
"""

import sys
import threading

import grpc
from google.protobuf.field_mask_pb2 import FieldMask
from google.rpc import error_details_pb2
from torg.offers.v1 import cabinet_pb2, cabinet_pb2_grpc, drafts_pb2, drafts_pb2_grpc
from torg.offers.v1 import moderation_pb2, moderation_pb2_grpc, offer_pb2, offers_pb2, offers_pb2_grpc

BICYCLES = "sg-4-4-3-2"


def euros(amount):
    return offer_pb2.Money(micros=amount * 1_000_000, currency="EUR")


def check(left, right):
    assert left == right, f"{left!r} is not {right!r}"


def refusal(call, request):
    """The code of a call that must be refused, and its details."""
    try:
        answer = call(request)
    except grpc.RpcError as error:
        details = dict(error.trailing_metadata()).get("grpc-status-details-bin")
        assert details, f"{error.details()}: no details"
        return error.code(), details
    raise AssertionError(f"not refused: {answer}")


def watch(offers, seen, ready):
    """Collects what a watch tells of dora's offers, until the channel closes."""
    try:
        for told in offers.WatchOffers(offers_pb2.WatchOffersRequest(seller="dora")):
            kind = told.WhichOneof("event")
            if kind == "caught_up":
                ready.set()
            if kind == "change":
                seen.append((told.change.version, list(told.change.changed), told.change.author.name))
    except grpc.RpcError:
        pass


def main(address):
    channel = grpc.insecure_channel(address)
    drafts = drafts_pb2_grpc.DraftServiceStub(channel)
    offers = offers_pb2_grpc.OfferServiceStub(channel)
    cabinet = cabinet_pb2_grpc.CabinetServiceStub(channel)
    moderation = moderation_pb2_grpc.ModerationServiceStub(channel)
    owner = drafts_pb2.DraftOwner(seller="dora")

    seen, ready = [], threading.Event()
    watching = threading.Thread(target=watch, args=(offers, seen, ready), daemon=True)
    watching.start()
    assert ready.wait(30), "the watch never caught up"

    draft = drafts.OpenDraft(drafts_pb2.OpenDraftRequest(owner=owner, category=BICYCLES)).draft
    check(draft.offer.category, BICYCLES)

    # Incomplete, it cannot be published: everything that is wrong comes at once, where stock clients look for it.
    code, details = refusal(drafts.PublishDraft, drafts_pb2.PublishDraftRequest(owner=owner, id=draft.id))
    check(code, grpc.StatusCode.INVALID_ARGUMENT)
    for part in [b"google.rpc.BadRequest", b"google.rpc.ErrorInfo", b"offer.title", b"offer.price"]:
        assert part in details, f"{part!r} is not in {details!r}"
    assert error_details_pb2.BadRequest is not None

    # Letters beyond ASCII come back as they went.
    draft.offer.title = "Красный велосипед"
    draft.offer.price.fixed.CopyFrom(euros(150))
    mask = FieldMask(paths=["title", "price"])
    drafts.UpdateDraft(drafts_pb2.UpdateDraftRequest(owner=owner, draft=draft, update_mask=mask))
    publish = drafts_pb2.PublishDraftRequest(owner=owner, id=draft.id)
    offer = drafts.PublishDraft(publish).offer
    check((offer.id, offer.title, offer.status, offer.version), (draft.id, "Красный велосипед", offer_pb2.STATUS_ACTIVE, 1))
    check(drafts.PublishDraft(publish).offer, offer)

    read = offers.GetOffer(offers_pb2.GetOfferRequest(id=offer.id, read_mask=FieldMask(paths=["price", "status"])))
    check((read.offer.price.fixed.micros, read.offer.title), (150_000_000, ""))

    change = offer_pb2.Offer(id=offer.id, version=1)
    change.price.fixed.CopyFrom(euros(120))
    update = offers_pb2.UpdateOfferRequest(offer=change, update_mask=FieldMask(paths=["price"]))
    check(offers.UpdateOffer(update).offer.version, 2)
    check(refusal(offers.UpdateOffer, update)[0], grpc.StatusCode.ABORTED)

    sell = offers_pb2.MoveOfferRequest(id=offer.id, to=offer_pb2.STATUS_SOLD, idempotency_key="sale")
    check(offers.MoveOffer(sell).offer.status, offer_pb2.STATUS_SOLD)
    check(offers.MoveOffer(sell).offer.version, 3)

    page = cabinet.ListOffers(cabinet_pb2.ListOffersRequest(seller="dora", preset=cabinet_pb2.PRESET_SOLD))
    check([listed.id for listed in page.offers], [offer.id])
    counts = cabinet.GetCounts(cabinet_pb2.GetCountsRequest(seller="dora")).counts
    check({count.preset: count.offers for count in counts}[cabinet_pb2.PRESET_SOLD], 1)
    counters = cabinet.GetCounters(cabinet_pb2.GetCountersRequest(seller="dora"))
    check((counters.sold, counters.money_earned[0].micros), (1, 120_000_000))

    history = offers.GetHistory(offers_pb2.GetHistoryRequest(id=offer.id)).entries
    check([entry.version for entry in history], [3, 2, 1])
    check([changed.field for changed in history[1].changes], ["price"])

    ban = moderation_pb2.Opinion(offer=offer.id, verdict=moderation_pb2.Opinion.VERDICT_BAN)
    moderation.GiveOpinion(moderation_pb2.GiveOpinionRequest(opinion=ban))
    for _ in range(600):
        status = offers.GetOffer(offers_pb2.GetOfferRequest(id=offer.id)).offer.status
        if status == offer_pb2.STATUS_BANNED and len(seen) >= 4:
            break
        watching.join(0.05)
    check(status, offer_pb2.STATUS_BANNED)
    check([version for version, _, _ in seen], [1, 2, 3, 4])
    check(seen[1][1], ["price"])

    missing = refusal(offers.GetOffer, offers_pb2.GetOfferRequest(id="4829-1750-3316-8090"))
    check(missing[0], grpc.StatusCode.NOT_FOUND)
    wrong = refusal(offers.GetOffer, offers_pb2.GetOfferRequest(id="4829-1750-3316-8091"))
    check(wrong[0], grpc.StatusCode.INVALID_ARGUMENT)
    channel.close()
    print("all as it should be")


main(sys.argv[1])
