/** Response to a connection over the limit. No request has been read, so there is no request id. */
export const TOO_MANY_CONNECTIONS = overload('this listener has reached its connection limit')
/** Response to a connection over the limit per client address. */
export const TOO_MANY_FROM_CLIENT = overload(
  'this listener has reached its connection limit for this client address',
)

function overload(detail: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: 'Overloaded',
    status: 503,
    detail,
    code: 'GW_OVERLOADED',
  })
}
