import { defineSettings } from '#server/kernel/settings'
import { Mailbox } from '#shared/api/people/email'

export const contactSettings = defineSettings(
  { CONTACT_EMAIL: Mailbox('must be the address of a mailbox').optional() },
  ({ CONTACT_EMAIL }, { production }) => ({
    /**
     * The mailbox of inquiries; null if nobody reads them. Outside production emails are captured, so any address
     * works.
     */
    address: CONTACT_EMAIL ?? (production ? null : 'team@plaza.example'),
  }),
)
