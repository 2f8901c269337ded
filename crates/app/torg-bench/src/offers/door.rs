//! One interface to the offers, through RPC or in process.

use std::sync::Arc;

use anyhow::Context as _;
use buffa_types::google::protobuf::FieldMask;
use offers::masks::UpdateMask;
use offers::status::Mover;
use offers::{Call, Move, OfferId, Offers};
use wire::torg::offers::v1::{
    Author, CreateOfferRequest, GetOfferRequest, MoveOfferRequest, Offer, OfferServiceClient,
    UpdateOfferRequest, author,
};

use super::book::Write;

/// Cheap to clone.
#[derive(Clone)]
pub(super) enum Door {
    /// Through the port of a server.
    Rpc(Arc<OfferServiceClient>),
    /// In this process.
    Store(Offers),
}

impl Door {
    /// A refused write is an error.
    pub(super) async fn write(&self, write: Write) -> anyhow::Result<()> {
        match self {
            Door::Rpc(client) => call(client, write).await,
            Door::Store(offers) => change(offers, write).await,
        }
    }

    /// Reads one offer, which has to exist.
    pub(super) async fn read(&self, id: OfferId) -> anyhow::Result<()> {
        let offer = match self {
            Door::Rpc(client) => {
                let request = GetOfferRequest { id: id.to_string(), ..GetOfferRequest::default() };
                let answer = client.get_offer(request).await.context("a read failed")?;
                answer.offer.into_option().context("an answer has no offer")?
            }
            Door::Store(offers) => offers.get(id).await?,
        };
        anyhow::ensure!(offer.id == id.to_string() && !offer.title.is_empty(), "an offer is another one");
        Ok(())
    }
}

async fn call(client: &OfferServiceClient, write: Write) -> anyhow::Result<()> {
    let answer = match write {
        Write::Update { offer, fields, .. } => {
            let request = UpdateOfferRequest {
                offer: (*offer).into(),
                update_mask: Some(mask(fields)).into(),
                ..UpdateOfferRequest::default()
            };
            client.update_offer(request).await.context("a change failed")?.offer
        }
        Write::Create { offer, .. } => {
            let request = CreateOfferRequest { offer: (*offer).into(), ..CreateOfferRequest::default() };
            client.create_offer(request).await.context("an offer was not published")?.offer
        }
        Write::Move { id, to, .. } => {
            let request =
                MoveOfferRequest { id: id.to_string(), to: to.into(), ..MoveOfferRequest::default() };
            client.move_offer(request).await.context("a move failed")?.offer
        }
    };
    anyhow::ensure!(answer.as_option().is_some_and(|offer| offer.version > 0), "an answer has no offer");
    Ok(())
}

async fn change(offers: &Offers, write: Write) -> anyhow::Result<()> {
    match write {
        Write::Update { offer, fields, .. } => {
            let (id, mask) = (offer.id.parse::<OfferId>()?, UpdateMask::parse(&mask(fields))?);
            let change = |to: &mut Offer| mask.apply(to, &offer).map_err(offers::Error::from);
            offers.update(&by_seller(), id, None, change).await?;
        }
        Write::Create { offer, .. } => {
            offers.create(&by_seller(), &offer).await?;
        }
        Write::Move { id, to, .. } => {
            offers.move_to(&by_seller(), id, None, &Move::to(to)).await?;
        }
    }
    Ok(())
}

fn mask(fields: &[&str]) -> FieldMask {
    FieldMask { paths: fields.iter().map(|field| (*field).to_owned()).collect(), ..FieldMask::default() }
}

/// A caller with the rights of a seller.
pub(crate) fn by_seller() -> Call {
    let name = "bench".to_owned();
    let author = Author { kind: author::Kind::KIND_SELLER.into(), name, ..Author::default() };
    Call::by(author, Mover::Seller)
}
