import { linkTo } from '#shared/kit/pages'

export const linkToCall = (token: string): string => location.origin + linkTo('call', { token })
