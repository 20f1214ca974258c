import { defineSettings } from '#server/kernel/settings'
import { Mailbox } from '#shared/api/email'

export const contactSettings = defineSettings(
  { CONTACT_EMAIL: Mailbox('must be the address of a mailbox').optional() },
  ({ CONTACT_EMAIL }, { production }) => ({
    /** Where inquiries go; null where nobody reads them. Outside production letters are shown, so that any address does. */
    address: CONTACT_EMAIL ?? (production ? null : 'team@plaza.example'),
  }),
)
