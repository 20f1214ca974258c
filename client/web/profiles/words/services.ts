import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { shortAddress } from '../../kit/format.ts'
import { locale } from '../../texts/language.ts'
import { profileTexts } from '../../texts/profiles.ts'
import { joined, leading, linkIn, optionOf, pictureIn, said, titleOfOption, type WordsOf } from '../shown.ts'

const t = profileTexts.widgets

const copied = (text: string, label: string) => (text === '' ? undefined : ({ kind: 'copy', text, label } as const))

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
      title: it.text('title') || t.messageMe,
      lines: said(it.text('subtitle'), isSameAccount(account, owner) ? '' : shortAddress(account)),
      act: { kind: 'message', account },
    }
  },
  wallet: (it, { owner }) => {
    const address = it.text('address') || owner
    return {
      sign: '👛',
      title: it.text('label') || t.wallet,
      lines: [shortAddress(address)],
      act: it.isOff('copyEnabled') ? undefined : copied(address, profileTexts.copyAddress),
    }
  },
  schedule: (it, { owner }) => {
    const title = it.text('title') || (it.text('slug') && t.schedule)
    return {
      sign: '📅',
      title,
      lines: said(it.text('subtitle')),
      pictures: pictureIn(it, 'avatarUrl', ''),
      link: title === '' ? undefined : leading(linkTo('schedule', { slug: it.text('slug') || owner }), t.bookTime),
    }
  },
  agent: (it) => ({
    sign: it.text('avatarEmoji') || '🤖',
    title: it.text('name') || (it.text('agentId') && t.agent),
    lines: said(it.text('personality')),
    pictures: pictureIn(it, 'avatarUrl', ''),
    link:
      it.text('agentId') === '' ? undefined : { href: linkTo('agentChat', { agent: it.text('agentId') }), says: t.ask },
  }),
  social_link: (it) => {
    const name = titleOfOption(it.text('platform'))
    return {
      title: name,
      lines: said(it.text('handle')),
      link: linkIn(it, 'url', t.openOf({ name })),
    }
  },
  tip_jar: (it) => {
    const amounts = it.numbers('amounts').map((amount) => amount.toLocaleString(locale))
    return {
      sign: '🫙',
      title: it.text('message') || (it.text('address') && t.tipJar),
      lines: said(
        joined(amounts.join(' · '), it.texts('tokens').join(', ')),
        it.text('address') && shortAddress(it.text('address')),
      ),
      act: copied(it.text('address'), profileTexts.copyAddress),
    }
  },
  nft: (it) => {
    const isKnown = it.text('contractAddress') !== ''
    const details = [
      joined(
        it.text('tokenId') && `#${it.text('tokenId')}`,
        it.text('chain') && t.onChain({ chain: titleOfOption(it.text('chain')) }),
      ),
    ]
    return {
      sign: '🖼️',
      title: it.text('name') || (isKnown ? t.nft({ address: shortAddress(it.text('contractAddress')) }) : ''),
      lines: said(it.text('collection'), ...(it.isOff('showDetails') ? [] : details)),
      pictures: pictureIn(it, 'imageUrl', it.text('name') || 'NFT'),
      act: copied(it.text('contractAddress'), profileTexts.copyContract),
    }
  },
  github: (it) => {
    const name = it.text('username')
    const part = it.text('type') === 'repos' ? '?tab=repositories' : ''
    return {
      sign: '🐙',
      title: name && 'GitHub',
      lines: said(name && `@${name}`),
      link: leading(name && `https://github.com/${name}${part}`, t.openOf({ name: 'GitHub' })),
    }
  },
  link: (it) => {
    const icon = it.text('icon')
    return {
      sign: icon.includes('/') ? '🔗' : icon || '🔗',
      title: it.text('title') || it.text('url').replace(/^https?:\/\/|\/$/g, ''),
      lines: said(it.text('description')),
      link: linkIn(it, 'url', t.open),
    }
  },
  social_embed: (it) => ({
    sign: '🗨️',
    title: it.text('embedUrl') && (it.text('platform') ? t.postOn({ platform: optionOf(it, 'platform') }) : t.post),
    link: linkIn(it, 'embedUrl', t.read),
  }),
}
