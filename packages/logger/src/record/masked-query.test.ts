import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SensitiveNames } from '@sluice/core'
import { maskedQuery, maskedUrls } from './masked-query.js'

const NAMES = new SensitiveNames([])

test('a secret in a query is masked to the end of its pair, with any separator', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a=1&token=s3cret&b=2', 'a=1&token=***&b=2'],
    ['password=s3;cret&b=2', 'password=***&b=2'],
    ['a=1;token=s3;cret&b=2', 'a=1;token=***&b=2'],
    ['a=b?access_token=s3cret', 'a=b?access_token=***'],
    ['api%5Fkey=s3cret', 'api%5Fkey=***'],
    ['next=https%3A%2F%2Fa%2F%3Fb%3D1%26sig%3Ds3cret&c=1', 'next=***&c=1'],
    ['next=token%3Ds3cret', 'next=***'],
    ['X-Amz-Credential=s3cret&X-Amz-Signature=s3cret', 'X-Amz-Credential=***&X-Amz-Signature=***'],
  ]
  for (const [query, masked] of cases) assert.equal(maskedQuery(query, NAMES), masked)
})

test('a query without secrets stays as it is', () => {
  for (const query of ['', 'a', 'a=1;b=2&c=%', 'q=a%3Db%26c%3Dd', 'filter=x;y=z?', '=&&=', 'page=2#top'])
    assert.equal(maskedQuery(query, NAMES), query)
})

test('URLs in fields lose their user, and the secrets of their query and fragment', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['https://a.example/cb#access_token=s3cret&state=1', 'https://a.example/cb#access_token=***&state=1'],
    ['https://a.example/?b=1&sig=s3cret', 'https://a.example/?b=1&sig=***'],
    ['/login?b=1#id_token=s3cret', '/login?b=1#id_token=***'],
    ['https://ann:s3cret@a.example/b', 'https://***@a.example/b'],
    ['https://ann:s3@cret@a.example?b=1', 'https://***@a.example?b=1'],
    [
      '<https://s3cret@a.example/>, <https://x:s3cret@b.example>',
      '<https://***@a.example/>, <https://***@b.example>',
    ],
  ]
  for (const [value, masked] of cases) assert.equal(maskedUrls(value, NAMES), masked)
  for (const value of ['text/html; q=0.9', 'https://a.example/@ann?b=1', 'ann@a.example', 'W/"a=b"'])
    assert.equal(maskedUrls(value, NAMES), value)
})
