/**
 * The payment of one person for a call with a host, in this browser until a call is booked with it or it is refused: where the time is lost, or the
 * answer, the same payment is sent again, so that nobody pays twice.
 */
export function keptPayment(host: string, booker: string) {
  const key = `plaza.call-payment.${host} ${booker}`
  return {
    read: () => localStorage.getItem(key),
    keep: (header: string) => localStorage.setItem(key, header),
    forget: () => localStorage.removeItem(key),
  }
}
