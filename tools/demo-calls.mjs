/**
 * Requests that `npm start` suggests and the demo test sends.
 *
 * @typedef {{ method: string, path: string, headers: Record<string, string>, status: number, expect: string }} DemoCall
 */

/** @type {readonly DemoCall[]} */
export const demoCalls = [
  {
    method: 'GET',
    path: '/orders/42?verbose=1',
    headers: {},
    status: 200,
    expect: '200: the upstream saw /v2/orders/42?verbose=1 and the header x-gateway that the gateway set',
  },
  {
    method: 'GET',
    path: '/partners/report',
    headers: { 'x-api-key': 'sluice-demo-key-0000' },
    status: 200,
    expect: '200 with the key; 401 as problem+json without it',
  },
  {
    method: 'DELETE',
    path: '/orders/42',
    headers: {},
    status: 405,
    expect: '405 as problem+json with Allow: the path is known, the method is not',
  },
]

/** Returns the call as a `curl` command. */
export function curlLine(call, origin) {
  const method = call.method === 'GET' ? [] : ['-X', call.method]
  const headers = Object.entries(call.headers).flatMap(([name, value]) => ['-H', `'${name}: ${value}'`])
  return ['curl', '-i', ...method, ...headers, `'${origin}${call.path}'`].join(' ')
}
