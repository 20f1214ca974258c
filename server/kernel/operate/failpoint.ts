/** Only for tests of crashes: kills this process the nth time it reaches the named place (`place:n`). */
export function failpoint(named: string): (reached: string) => void {
  const [place, passes = '1'] = named.split(':')
  let left = Number(passes)
  return (reached) => {
    if (reached !== place || --left > 0) return
    // The answer is written to the socket one event-loop turn later.
    if (place === 'after-ack') setImmediate(die)
    else die()
  }
}

const die = () => process.kill(process.pid, 'SIGKILL')
