/** Is what is written here read by machines? Known before all else is read. */
export const isProduction = (): boolean => process.env.NODE_ENV === 'production'
