/** The answers to connections over a limit; no request has been read yet, so there is no id to name. */
export const CROWDED = overload('this listener has as many connections as it accepts')
export const GREEDY = overload('this listener has as many connections from this address as it accepts')

function overload(detail: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: 'Overloaded',
    status: 503,
    detail,
    code: 'GW_OVERLOADED',
  })
}
