/** What an input has, whatever it asks for. */
export interface Common {
  id: string
  className: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}
