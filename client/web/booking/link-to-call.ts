export const linkToCall = (token: string): string => `${location.origin}/join/${token}`
