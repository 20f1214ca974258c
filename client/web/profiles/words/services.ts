import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { shortAddress } from '../../kit/format.ts'
import { locale } from '../../texts/language.ts'
import { capital, joined, leading, linkIn, pictureIn, said, type WordsOf } from '../shown.ts'

const platforms: Readonly<Record<string, string>> = {
  x: 'X',
  twitter: 'Twitter',
  github: 'GitHub',
  linkedin: 'LinkedIn',
  youtube: 'YouTube',
  tiktok: 'TikTok',
  website: 'Website',
}
export const platformName = (platform: string): string => platforms[platform] ?? capital(platform)

const copied = (text: string, what: string) => (text === '' ? undefined : ({ kind: 'copy', text, what } as const))

/** Ways to the person: to write, pay or call them, and where else they are. */
export const services: WordsOf<
  | 'message_me'
  | 'wallet'
  | 'schedule'
  | 'agent'
  | 'social_link'
  | 'tip_jar'
  | 'nft'
  | 'github'
  | 'link'
  | 'social_embed'
> = {
  message_me: (it, { owner }) => {
    const account = it.text('address') || owner
    return {
      sign: '💬',
      title: it.text('title') || 'Write to me',
      lines: said(it.text('subtitle'), isSameAccount(account, owner) ? '' : shortAddress(account)),
      act: { kind: 'message', account },
    }
  },
  wallet: (it, { owner }) => {
    const address = it.text('address') || owner
    return {
      sign: '👛',
      title: it.text('label') || 'Wallet',
      lines: [shortAddress(address)],
      act: it.isOff('copyEnabled') ? undefined : copied(address, 'address'),
    }
  },
  schedule: (it) => ({
    sign: '📅',
    title: it.text('title') || (it.text('slug') && 'Book a call'),
    lines: said(it.text('subtitle')),
    pictures: pictureIn(it, 'avatarUrl', ''),
  }),
  agent: (it) => ({
    sign: it.text('avatarEmoji') || '🤖',
    title: it.text('name') || (it.text('agentId') && 'An agent of mine'),
    lines: said(it.text('personality')),
    pictures: pictureIn(it, 'avatarUrl', ''),
    link:
      it.text('agentId') === ''
        ? undefined
        : { href: linkTo('agentChat', { agent: it.text('agentId') }), says: 'Ask it' },
  }),
  social_link: (it) => {
    const name = platformName(it.text('platform'))
    return {
      title: name,
      lines: said(it.text('handle')),
      link: linkIn(it, 'url', `Open ${name}`),
    }
  },
  tip_jar: (it) => {
    const amounts = it.numbers('amounts').map((amount) => amount.toLocaleString(locale))
    return {
      sign: '🫙',
      title: it.text('message') || (it.text('address') && 'Tip jar'),
      lines: said(
        joined(amounts.join(' · '), it.texts('tokens').join(', ')),
        it.text('address') && shortAddress(it.text('address')),
      ),
      act: copied(it.text('address'), 'address'),
    }
  },
  nft: (it) => {
    const isKnown = it.text('contractAddress') !== ''
    const details = [
      joined(it.text('tokenId') && `#${it.text('tokenId')}`, it.text('chain') && `on ${it.text('chain')}`),
    ]
    return {
      sign: '🖼️',
      title: it.text('name') || (isKnown ? `NFT ${shortAddress(it.text('contractAddress'))}` : ''),
      lines: said(it.text('collection'), ...(it.isOff('showDetails') ? [] : details)),
      pictures: pictureIn(it, 'imageUrl', it.text('name') || 'NFT'),
      act: copied(it.text('contractAddress'), 'address of the contract'),
    }
  },
  github: (it) => {
    const name = it.text('username')
    const part = it.text('type') === 'repos' ? '?tab=repositories' : ''
    return {
      sign: '🐙',
      title: name && 'GitHub',
      lines: said(name && `@${name}`),
      link: leading(name && `https://github.com/${name}${part}`, 'Open GitHub'),
    }
  },
  link: (it) => {
    const icon = it.text('icon')
    return {
      sign: icon.includes('/') ? '🔗' : icon || '🔗',
      title: it.text('title') || it.text('url').replace(/^https?:\/\/|\/$/g, ''),
      lines: said(it.text('description')),
      link: linkIn(it, 'url', 'Open'),
    }
  },
  social_embed: (it) => ({
    sign: '🗨️',
    title: it.text('embedUrl') && joined('A post', it.text('platform') && `on ${platformName(it.text('platform'))}`),
    link: linkIn(it, 'embedUrl', 'Read it there'),
  }),
}
