/** For tests of what a crash leaves behind: ends this process when it comes to the named place for the so manieth time. */
export function failpoint(named: string): (reached: string) => void {
  const [place, passes = '1'] = named.split(':')
  let left = Number(passes)
  return (reached) => {
    if (reached !== place || --left > 0) return
    // An ack is on the wire one turn of the loop later.
    if (place === 'after-ack') setImmediate(die)
    else die()
  }
}

const die = () => process.kill(process.pid, 'SIGKILL')
