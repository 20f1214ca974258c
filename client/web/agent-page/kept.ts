import { v4 as uuid } from 'uuid'
import type { PaymentNetwork } from '#shared/api/payments/payment-networks'

/** A question that has no answer yet, with its payment once it is signed: the same payment is sent again, never another. */
export interface KeptQuestion {
  key: string
  message: string
  payment: string | null
  /** Its answer failed: asked again by the person alone. */
  isFailed: boolean
  /** The payment, where no more answers are begun for it. */
  spent?: string | null
}

/** A payment that was answered. */
export interface KeptReceipt {
  id: string
  network: PaymentNetwork
  /** In the smallest unit of the token. */
  amount: string
  transaction: string | null
  simulated: boolean
}

interface Kept {
  /** Whoever has it may read what was said in it. */
  session: string
  /** Absent in what older pages kept. */
  hasAsked?: boolean
  questions: readonly KeptQuestion[]
  receipts: readonly KeptReceipt[]
}

const mostReceipts = 50

/** What this browser keeps of a visit to an agent. Each change reads it anew, as another tab may have changed it. */
export function visitOf(agent: string) {
  const place = `plaza.visit.${agent}`
  const read = (): Kept => {
    const text = localStorage.getItem(place)
    return text === null ? { session: uuid(), questions: [], receipts: [] } : (JSON.parse(text) as Kept)
  }
  const write = (kept: Kept) => localStorage.setItem(place, JSON.stringify(kept))
  const first = read()
  write(first)

  return {
    session: first.session,
    /** Whether something was asked here, so that there is a history to be read. */
    hasAsked: () => {
      const { hasAsked, questions, receipts } = read()
      return hasAsked ?? questions.length + receipts.length > 0
    },
    questions: () => read().questions,
    receipts: () => read().receipts,
    keep(question: KeptQuestion) {
      const kept = read()
      const others = kept.questions.filter(({ key }) => key !== question.key)
      write({ ...kept, hasAsked: true, questions: [...others, question] })
    },
    forget(question: string) {
      const kept = read()
      write({ ...kept, questions: kept.questions.filter(({ key }) => key !== question) })
    },
    add(receipt: KeptReceipt) {
      const kept = read()
      const others = kept.receipts.filter(({ id }) => id !== receipt.id)
      write({ ...kept, receipts: [receipt, ...others].slice(0, mostReceipts) })
    },
  }
}
