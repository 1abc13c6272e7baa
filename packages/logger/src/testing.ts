import { Exchange } from '@sluice/core'

/** A finished exchange as a gateway in front of one upstream would hand it over; `changes` are laid over it. */
export function sampleExchange(changes: Partial<Exchange> = {}): Exchange {
  const x = new Exchange()
  x.id = '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d'
  x.startedAt = Date.now()
  x.startedMono = performance.now() - 12.5
  x.method = 'POST'
  x.authority = 'api.example.com:8080'
  x.host = 'api.example.com'
  x.rawPath = '/orders/42/lines'
  x.path = '/orders/42/lines'
  x.query = 'page=2&access_token=s3cr3t'
  x.headers = [
    'content-type',
    'application/json',
    'user-agent',
    'curl/8.5.0',
    'authorization',
    'Basic c2VjcmV0',
  ]
  x.peer = '10.0.0.9'
  x.clientIp = '203.0.113.7'
  x.routeId = 'orders'
  x.consumer = { id: 'c-1', name: 'acme', auth: 'basic-auth', groups: [] }
  x.upstream = 'orders'
  x.target = 'http://10.0.0.5:9000'
  x.upstreamStatus = 200
  x.attempts = 1
  x.dispatchedMono = x.startedMono + 1.25
  x.respondedMono = x.startedMono + 9.75
  x.status = 200
  x.responseHeaders = ['content-type', 'application/json', 'set-cookie', 'sid=s3cr3t']
  x.requestBytes = 128
  x.responseBytes = 2048
  return Object.assign(x, changes)
}
