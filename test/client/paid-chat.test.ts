import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { noAnswer } from '#client/sdk/failures'
import type { Client } from '#client/sdk/types'
import { amountText, offerIn } from '#client/web/agent-page/offer'
import { type PaidChat, paidChat } from '#client/web/agent-page/paid-chat'
import { networks } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'

type Line =
  | { type: 'chunk'; text: string }
  | { type: 'done'; message: string }
  | { type: 'error'; error: string; code?: string }
type Answer = AppError | readonly Line[] | Promise<readonly Line[]>

const price = {
  network: 'base-sepolia',
  asset: networks['base-sepolia'].asset,
  amount: '50000',
  payTo: `0x${'1'.repeat(40)}`,
  maxTimeoutSeconds: 300,
}
const costs = (code: 'PAYMENT_REQUIRED' | 'PAYMENT_EXPIRED' | 'INVALID_PAYMENT' = 'PAYMENT_REQUIRED', more = {}) =>
  new AppError(code, { details: { accepts: [{ ...price, ...more }] } })
const done = (message: string): Line[] => [
  { type: 'chunk', text: message },
  { type: 'done', message },
]
const pending = new AppError('PAYMENT_PENDING', { retryAfter: 2, details: { payment: { id: 'p1' } } })

/** What the browser keeps, for all of its tabs, and the tabs that hear of it. */
let kept: Map<string, string>
let tabs: (() => void)[]
let answers: Answer[]
let sent: { message: string; payment: string | undefined; kept: unknown }[]
let said: { role: 'user' | 'assistant'; content: string }[]
/** How a payment is, each time that it is asked after; `over` is `unknown`, and nothing more is charged with it. */
let states: string[]
let chats: (() => void)[]

const questions = () => JSON.parse(kept.get('plaza.visit.agent') ?? '{"questions":[]}').questions
const client = {
  payments: {
    async *chatStream({ message, payment }: { message: string; payment?: string }) {
      sent.push({ message, payment, kept: questions()[0]?.payment ?? null })
      const answer = await (answers.shift() ?? new Promise<Line[]>(() => {}))
      if (answer instanceof AppError) throw answer
      for (const line of answer)
        yield line.type === 'chunk'
          ? line
          : {
              ...line,
              payment: { id: `r${sent.length}`, ...price, transaction: null, simulated: true, answers_left: 4 },
            }
    },
    history: async () => ({ messages: said }),
    payment: async () => {
      const state = states.shift() ?? 'settled'
      return { state: state === 'over' ? 'unknown' : state, is_over: state === 'over' }
    },
  },
} as unknown as Client

beforeEach(() => {
  vi.useFakeTimers()
  kept = new Map()
  ;[tabs, answers, sent, said, states, chats] = [[], [], [], [], [], []]
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  vi.stubGlobal('addEventListener', (_event: string, listener: () => void) => tabs.push(listener))
  vi.stubGlobal('removeEventListener', (_event: string, listener: () => void) => {
    tabs = tabs.filter((one) => one !== listener)
  })
})
afterEach(() => {
  for (const stop of chats) stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A page that is opened; its own end stops it, as a reload does. */
function open(): { chat: PaidChat; close: () => void } {
  const chat = paidChat(client, 'agent')
  const close = chat.start()
  chats.push(close)
  return { chat, close }
}
const settle = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds)
const stages = ({ state }: PaidChat) => state.asked.map(({ stage }) => stage.at)
const keyOf = ({ state }: PaidChat) => state.asked[0]?.key ?? ''
function wallet() {
  const signed: ((payment: string) => void)[] = []
  const sign = () => new Promise<string>((resolve) => signed.push(resolve))
  return { payer: { id: 'wallet', name: 'Wallet', sign }, signed }
}
async function priced() {
  answers.push(costs())
  const page = open()
  page.chat.ask('How deep?')
  await settle()
  expect(stages(page.chat)).toEqual(['priced'])
  return page
}

describe('T30: a payment in the page', () => {
  test('is kept before it is sent, and forgotten with its answer', async () => {
    const { chat } = await priced()
    const { payer, signed } = wallet()
    const paying = chat.pay(keyOf(chat), payer)
    answers.push(done('Deep.'))
    signed[0]?.('signed')
    await paying
    expect(sent.map(({ payment, kept }) => [payment, kept])).toEqual([
      [undefined, null],
      ['signed', 'signed'],
    ])
    expect([stages(chat), questions()]).toEqual([['done'], []])
    expect(chat.state.receipts).toMatchObject([{ id: 'r2', amount: '50000', simulated: true }])
  })

  test('that is signed twice at once is asked for once, and what is signed after the wallet was left is not sent', async () => {
    const { chat } = await priced()
    const { payer, signed } = wallet()
    void chat.pay(keyOf(chat), payer)
    void chat.pay(keyOf(chat), payer)
    await settle()
    expect(signed).toHaveLength(1)
    chat.leaveWallet(keyOf(chat))
    expect(stages(chat)).toEqual(['priced'])
    void chat.pay(keyOf(chat), payer)
    await settle()
    signed[0]?.('late')
    await settle()
    expect([sent.length, questions()[0].payment]).toEqual([1, null])
    signed[1]?.('signed')
    await settle()
    expect(sent.map(({ payment }) => payment)).toEqual([undefined, 'signed'])
  })

  test('of another tab is followed, and none is made beside it', async () => {
    const one = await priced()
    answers.push(costs())
    const other = open()
    await settle()
    answers.push(costs())
    const third = open()
    await settle()
    expect([stages(other.chat), stages(third.chat)]).toEqual([['priced'], ['priced']])
    const { payer, signed } = wallet()
    void one.chat.pay(keyOf(one.chat), payer)
    void third.chat.pay(keyOf(third.chat), payer)
    await settle()
    signed[0]?.('signed')
    await settle()
    // The third tab hears nothing, and its wallet signs as well.
    signed[1]?.('another')
    await settle()
    const before = signed.length
    void other.chat.pay(keyOf(other.chat), payer)
    await settle()
    expect(signed).toHaveLength(before)
    expect(sent.flatMap(({ payment }) => payment ?? [])).toEqual(['signed', 'signed', 'signed'])
  })

  test('that another tab has made is heard of', async () => {
    const one = await priced()
    answers.push(costs())
    const other = open()
    await settle()
    const { payer, signed } = wallet()
    void one.chat.pay(keyOf(one.chat), payer)
    signed[0]?.('signed')
    await settle()
    for (const hear of tabs) hear()
    await settle()
    expect(sent.at(-1)?.payment).toBe('signed')
    expect(stages(other.chat)).toEqual(['paying'])
  })

  test('that another tab has had answered is told by the history', async () => {
    const { chat } = await priced()
    kept.set('plaza.visit.agent', JSON.stringify({ session: 's', hasAsked: true, questions: [], receipts: [] }))
    said = [{ role: 'user', content: 'How deep?' }]
    for (const hear of tabs) hear()
    await settle()
    expect([chat.state.asked, chat.state.said]).toEqual([[], said])
  })

  test('is sent again, the same, while the server cannot be reached or does not know yet', async () => {
    const { chat } = await priced()
    const { payer, signed } = wallet()
    void chat.pay(keyOf(chat), payer)
    answers.push(noAnswer(), pending, new AppError('CONFLICT', { retryAfter: 1 }), done('Deep.'))
    states = ['unknown', 'unknown', 'settled']
    signed[0]?.('signed')
    await settle()
    expect(chat.state.asked[0]?.stage).toEqual({ at: 'cut', isPaid: true })
    await settle(1_000)
    expect(stages(chat)).toEqual(['unknown'])
    await settle(5_900)
    expect([sent.length, stages(chat)]).toEqual([3, ['unknown']])
    await settle(100)
    expect(stages(chat)).toEqual(['waiting'])
    await settle(1_000)
    expect(stages(chat)).toEqual(['done'])
    expect(sent.slice(1).map(({ payment }) => payment)).toEqual(Array(4).fill('signed'))
    expect(signed).toHaveLength(1)
  })

  test('whose outcome is not known is left where nothing more is charged with it, and is asked after no more', async () => {
    const { chat } = await priced()
    const { payer, signed } = wallet()
    void chat.pay(keyOf(chat), payer)
    answers.push(pending)
    states = ['unknown', 'over', 'over']
    signed[0]?.('signed')
    await settle()
    expect(chat.state.asked[0]?.stage).toEqual({ at: 'unknown', isOver: false })
    await settle(4_000)
    expect(chat.state.asked[0]?.stage).toEqual({ at: 'unknown', isOver: true })
    chat.drop(keyOf(chat))
    await settle(10_000)
    expect([stages(chat), questions(), states, sent.length]).toEqual([[], [], ['over'], 2])
  })

  test('is sent again after a reload, also where its answer failed, then by the person alone', async () => {
    const { chat, close } = await priced()
    const { payer, signed } = wallet()
    void chat.pay(keyOf(chat), payer)
    signed[0]?.('signed')
    await settle()
    close()
    answers.push([
      { type: 'chunk', text: 'De' },
      { type: 'error', error: 'It broke', code: 'MODEL_BUSY' },
    ])
    const second = open()
    expect(stages(second.chat)).toEqual(['waiting'])
    await settle()
    expect(second.chat.state.asked[0]?.stage).toMatchObject({
      at: 'failed',
      text: 'De',
      problem: 'MODEL_BUSY',
      isPaid: true,
    })
    second.close()
    const third = open()
    await settle(60_000)
    expect([stages(third.chat), sent.length]).toEqual([['failed'], 3])
    answers.push(done('Deep.'))
    await third.chat.retry(keyOf(third.chat))
    expect(stages(third.chat)).toEqual(['done'])
    expect(sent.slice(1).map(({ payment }) => payment)).toEqual(['signed', 'signed', 'signed'])
  })

  test('that is refused is thrown away, and the question priced anew with the reason', async () => {
    const { chat } = await priced()
    const { payer, signed } = wallet()
    void chat.pay(keyOf(chat), payer)
    answers.push(costs('PAYMENT_EXPIRED', { amount: '60000' }))
    signed[0]?.('signed')
    await settle()
    expect(chat.state.asked[0]).toMatchObject({
      payment: null,
      stage: { at: 'priced', offer: { amount: '60000' }, problem: { code: 'PAYMENT_EXPIRED' } },
    })
    expect(questions()).toMatchObject([{ payment: null }])
  })

  test('of an answer of long ago is not made again: the history has the answer', async () => {
    kept.set(
      'plaza.visit.agent',
      JSON.stringify({
        session: 's',
        questions: [{ key: 'k', message: 'How deep?', payment: 'signed', isFailed: false }],
        receipts: [],
      }),
    )
    said = [
      { role: 'user', content: 'How deep?' },
      { role: 'assistant', content: 'Deep.' },
    ]
    answers.push(costs('INVALID_PAYMENT'))
    const { chat } = open()
    await settle()
    expect([stages(chat), questions(), chat.state.said]).toEqual([[], [], said])
  })

  test('is asked for in what this page can pay alone', async () => {
    const wrong = [
      { network: 'base' },
      { network: 'toString' },
      { asset: `0x${'2'.repeat(40)}` },
      { amount: '5e4' },
      { amount: 50_000 },
      { payTo: '0x12' },
      { payTo: `javascript:${'1'.repeat(31)}` },
      { maxTimeoutSeconds: '300' },
    ]
    for (const more of wrong) expect(offerIn({ accepts: [{ ...price, ...more }] })).toBeNull()
    for (const details of [undefined, {}, { accepts: 'x' }, { accepts: [null] }]) expect(offerIn(details)).toBeNull()
    expect(offerIn({ accepts: [price] })).toEqual({
      ...{ network: 'base-sepolia', amount: '50000', payTo: price.payTo, seconds: 300 },
    })
    answers.push(costs('PAYMENT_REQUIRED', { asset: 'other' }))
    const { chat } = open()
    chat.ask('How deep?')
    await settle()
    expect(chat.state.asked[0]?.stage).toMatchObject({ at: 'failed', isPaid: false })
  })
})

test.each([
  ['1', '$0.000001'],
  ['50000', '$0.05'],
  ['55500', '$0.0555'],
  ['1000000', '$1.00'],
  ['1234567890', '$1234.56789'],
])('%s of the smallest unit are %s', (units, text) => expect(amountText(units)).toBe(text))

test('of the receipts the newest 50 are kept, each once', async () => {
  const { chat } = await priced()
  const { payer, signed } = wallet()
  const old = Array.from({ length: 50 }, (_, at) => ({ id: at === 0 ? 'r2' : `old${at}` }))
  const { session } = JSON.parse(kept.get('plaza.visit.agent') ?? '')
  kept.set('plaza.visit.agent', JSON.stringify({ session, questions: questions(), receipts: old }))
  const paying = chat.pay(keyOf(chat), payer)
  answers.push(done('Deep.'))
  signed[0]?.('signed')
  await paying
  const { receipts } = JSON.parse(kept.get('plaza.visit.agent') ?? '')
  expect(receipts).toHaveLength(50)
  expect(receipts.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual(['r2', 'old1'])
})
