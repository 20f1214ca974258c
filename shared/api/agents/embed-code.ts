/** The token that is paid with: its chain and its EIP-712 domain. */
interface Token {
  chainId: number
  name: string
  version: string
}

/** Ready to be pasted: a form for any page, a program for Node, and a command line. Nothing that somebody wrote is in them. */
export const embedCodeOf = (chat: string, token: Token) => ({
  embed: formOf(chat, token),
  sdk: programOf(chat),
  curl: commandOf(chat),
})

const commandOf = (chat: string) => `curl -sS '${chat}' \\
  -H 'Content-Type: application/json' \\
  -H "X-Payment: $X_PAYMENT" \\
  -d '{"message": "What can you help me with?"}'
`

const programOf = (chat: string) => `// npm install @x402/core @x402/evm viem
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'

const signer = privateKeyToAccount(process.env.PRIVATE_KEY)
const client = new x402HTTPClient(registerExactEvmScheme(new x402Client(), { signer }))
const ask = (payment = {}) =>
  fetch('${chat}', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...payment },
    body: JSON.stringify({ message: 'What can you help me with?' }),
  })

let answer = await ask()
if (answer.status === 402) {
  const required = client.getPaymentRequiredResponse((name) => answer.headers.get(name), await answer.json())
  const payment = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required))
  answer = await ask(payment)
  // Not known yet: asked again with the same payment, it is charged once.
  for (let tries = 0; [202, 409].includes(answer.status) && tries < 30; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 2000))
    answer = await ask(payment)
  }
}
const { message, error } = await answer.json()
console.log(answer.ok ? message : error)
`

const formOf = (chat: string, { chainId, name, version }: Token) => `<form data-plaza-agent>
  <input name="message" required maxlength="10000" placeholder="Ask a question" aria-label="Question">
  <button>Ask</button>
  <output></output>
</form>
<script type="module">
  const form = document.querySelector('form[data-plaza-agent]')
  const output = form.querySelector('output')
  const wallet = (method, ...params) => window.ethereum.request({ method, params })
  const ask = (message, headers = {}) =>
    fetch('${chat}', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ message }),
    })
  const uint = (name) => ({ name, type: 'uint256' })
  const types = {
    EIP712Domain: [{ name: 'name', type: 'string' }, { name: 'version', type: 'string' }, uint('chainId'), { name: 'verifyingContract', type: 'address' }],
    TransferWithAuthorization: [{ name: 'from', type: 'address' }, { name: 'to', type: 'address' }, uint('value'), uint('validAfter'), uint('validBefore'), { name: 'nonce', type: 'bytes32' }],
  }

  async function pay({ accepts: [price] }) {
    const [from] = await wallet('eth_requestAccounts')
    await wallet('wallet_switchEthereumChain', { chainId: '0x${chainId.toString(16)}' })
    const random = crypto.getRandomValues(new Uint8Array(32))
    const nonce = '0x' + Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
    const validBefore = String(Math.floor(Date.now() / 1000) + price.maxTimeoutSeconds)
    const authorization = { from, to: price.payTo, value: price.amount, validAfter: '0', validBefore, nonce }
    const domain = { name: '${name}', version: '${version}', chainId: ${chainId}, verifyingContract: price.asset }
    const data = { types, domain, primaryType: 'TransferWithAuthorization', message: authorization }
    const signature = await wallet('eth_signTypedData_v4', from, JSON.stringify(data))
    const envelope = { x402Version: 1, scheme: 'exact', network: price.network, payload: { signature, authorization } }
    return { 'X-Payment': btoa(JSON.stringify(envelope)) }
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const message = form.elements.message.value
    try {
      let answer = await ask(message)
      if (answer.status === 402) {
        const payment = await pay(await answer.json())
        answer = await ask(message, payment)
        // Not known yet: asked again with the same payment, it is charged once.
        for (let tries = 0; [202, 409].includes(answer.status) && tries < 30; tries++) {
          await new Promise((resolve) => setTimeout(resolve, 2000))
          answer = await ask(message, payment)
        }
      }
      const said = await answer.json()
      output.textContent = answer.ok ? said.message : said.error
    } catch (error) {
      output.textContent = error.message
    }
  })
</script>
`
