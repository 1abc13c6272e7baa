import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { RATE_PATTERN } from '@sluice/core'
import { duration, integer, ratio, size, text } from '../schema/build.js'
import { violationsOf } from './violation.js'
import { wordingOf } from './wording.js'

const SCHEMAS = {
  flag: Type.Boolean({ default: false }),
  time: duration('1ms', '7d', { default: '5s' }),
  size: size('1b', '4gb', {}),
  rate: Type.String({ pattern: RATE_PATTERN }),
  ratio: ratio({}),
  count: integer(1, 1_000_000, {}),
  percent: Type.Number({ minimum: 0, maximum: 100 }),
  url: text('http-url'),
  target: text('target-url'),
  redis: text('redis-url'),
  address: text('address'),
  broker: text('kafka-broker'),
  host: text('host'),
  secret: Type.Boolean({ secret: true }),
}

const REMEDIES: readonly (readonly [keyof typeof SCHEMAS, unknown, string])[] = [
  ['flag', 'yes', 'write true'],
  ['flag', 'On', 'write true'],
  ['flag', 1, 'write true'],
  ['flag', 'true', 'remove the quotes'],
  ['flag', 'off', 'write false'],
  ['flag', 'no', 'write false'],
  ['flag', 0, 'write false'],
  ['flag', 'sometimes', 'write true or false'],
  ['time', '5 seconds', 'write 5s'],
  ['time', '10 min', 'write 10m'],
  ['time', '250 millis', 'write 250ms'],
  ['time', '2hours', 'write 2h'],
  ['time', '.5s', 'write 0.5s'],
  ['time', 30, 'write 30s'],
  ['time', 'soon', 'write for example 5s'],
  ['size', '16 KiB', 'write 16kb'],
  ['size', '10M', 'write 10mb'],
  ['size', '1_000 bytes', 'write 1000b'],
  ['size', '1G', 'write 1gb'],
  ['rate', '100/minute', 'write 100/m'],
  ['rate', '100/min', 'write 100/m'],
  ['rate', '100 per second', 'write 100/s'],
  ['rate', '5 requests per hour', 'write 5/h'],
  ['rate', '60rpm', 'write 60/m'],
  ['rate', '10 r/s', 'write 10/s'],
  ['rate', '1,000/day', 'write 1000/d'],
  ['ratio', 0.1, 'write 10% or 0.1%'],
  ['ratio', '0.25', 'write 25% or 0.25%'],
  ['ratio', 1, 'write 1%'],
  ['ratio', 20, 'write 20%'],
  ['ratio', '20 percent', 'write 20%'],
  ['count', '1_000', 'write 1000'],
  ['count', '10,000', 'write 10000'],
  ['percent', '10%', 'write 10'],
  ['url', 'localhost:9200', 'write http://localhost:9200'],
  ['url', 'es.example.com', 'write http://es.example.com'],
  ['url', 'nonsense', 'write for example http://127.0.0.1'],
  ['target', '10.0.0.5:9000', 'write http://10.0.0.5:9000'],
  ['redis', 'valkey:6379', 'write redis://valkey:6379'],
  ['address', 'http://0.0.0.0:80', 'remove the scheme: 0.0.0.0:80; tls: enables https'],
  ['broker', 'kafka://kafka-1:9092', 'write kafka-1:9092'],
  ['host', 'https://API.example.com/', 'write API.example.com'],
  ['secret', 'yes', 'write true or false'],
]

for (const [name, value, expected] of REMEDIES) {
  test(`the remedy for ${name}: ${JSON.stringify(value)} fits the value`, () => {
    const schema = Type.Object({ [name]: SCHEMAS[name] })
    const [violation] = violationsOf(schema, { [name]: value })
    assert.equal(wordingOf(violation!, null).remedy, expected)
  })
}
