/** For tests of crashes: kills this process the nth time it reaches the named place (`place:n`; without n the first time). */
export function failpoint(named: string): (reached: string) => void {
  const [place, passes = '1'] = named.split(':')
  let left = Number(passes)
  return (reached) => {
    if (reached !== place || --left > 0) return
    // An ack is written to the socket one turn of the event loop later.
    if (place === 'after-ack') setImmediate(die)
    else die()
  }
}

const die = () => process.kill(process.pid, 'SIGKILL')
