import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policySuggestion } from './policy-names.js'

test('names of other gateways lead to the policy that is meant, where there is one', () => {
  const known = ['api-key', 'authorize', 'jwt']
  assert.equal(policySuggestion('key-auth', known, 'none'), "did you mean 'api-key'?")
  assert.equal(policySuggestion('apikey', known, 'none'), "did you mean 'api-key'?")
  assert.equal(policySuggestion('openid-connect', known, 'none'), 'none')
  assert.equal(policySuggestion('request-callout', ['api-call'], 'none'), "did you mean 'api-call'?")
  assert.equal(policySuggestion('constructor', known, 'none'), 'none')
})
