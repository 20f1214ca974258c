import { linkIdentity } from '#server/domains/people/identity/identities'
import { signInBy } from '#server/domains/people/identity/sign-in'
import { joinPartnerChannel } from '#server/domains/rooms/rooms/partner-channel'
import { defineDomain } from '#server/kernel/domain'
import { federation as contract } from '#shared/api/people/federation'
import { proveHuman, writeSignal } from './human-proof.ts'
import { provePartner } from './partner.ts'
import { partnerIdentity, refuseNewName } from './partner-identity.ts'
import { federationSettings } from './settings.ts'

export const federation = defineDomain(
  contract,
  {
    proofSignal: (_input, { node }) => writeSignal(node),

    async humanProof(proof, context) {
      const { identity, level } = await proveHuman(context.node, proof)
      const answer = await signInBy(context, identity)
      return { ...answer, nullifier_hash: proof.nullifier_hash, verification_level: level }
    },

    async linkHumanProof(proof, context) {
      const { identity } = await proveHuman(context.node, proof)
      return linkIdentity(context, identity)
    },

    async partner(input, context) {
      const named = await provePartner(context.node, input)
      await refuseNewName(named)
      const answer = await signInBy(context, await partnerIdentity(named))
      await joinPartnerChannel(context.node, answer.userAddress)
      return { ...answer, partnerAddress: named.name, alienAddress: named.name }
    },

    async linkPartner(input, context) {
      return linkIdentity(context, await partnerIdentity(await provePartner(context.node, input)))
    },
  },
  { settings: federationSettings },
)
