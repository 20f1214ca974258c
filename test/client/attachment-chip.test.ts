import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { AttachmentChip } from '../../client/web/messages/attachment-chip.tsx'

const shown = (url: string, name?: string) =>
  renderToStaticMarkup(createElement(AttachmentChip, { url, name, home: 'chat.example' }))

describe('M01: the chip of an attachment', () => {
  it.each([
    ['https://evil.example/a.pdf', 'evil.example'],
    ['https://chat.example@evil.example/a.pdf', 'evil.example'],
    ['https://evil.example:8443/a.pdf', 'evil.example:8443'],
    ['https://chat.example.evil.example/', 'chat.example.evil.example'],
    ['https://\u0441hat.example/a', 'xn--hat-3ed.example'],
  ])('names the host that %s leads to, whatever it is called', (url, host) =>
    expect(shown(url, 'https://chat.example/plan.pdf')).toContain(`>${host}<`),
  )

  it('T26: is no link where its address names a user', () =>
    expect(shown('https://chat.example@evil.example/a.pdf')).not.toContain('href'))

  it('names no host for files of this server', () =>
    expect(shown('https://chat.example/media/plan.pdf')).toMatch(/<bdi>plan.pdf<\/bdi><\/a>$/))
})
