import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSlowPattern } from './slow-pattern.js'

const QUICK = [
  '',
  'abc',
  '[A-Z]{2}-\\d{4}',
  '\\d+',
  '(abc)+',
  '(abc){3}d*',
  'a?b?c?',
  '\\d{1,3}\\.\\d{1,3}',
  '(a|b)',
  '(red|green)?',
  '[+*()|]+',
  '[a-z-[aeiou]]+x',
  '\\(\\*\\+\\|',
  'a{0,20}',
]

const SLOW = [
  '(a|aa)+b',
  '(a+)+b',
  '(a*)*b',
  '(a?){30}a{30}',
  '(.*,){20}x',
  '(a{1,50}){1,50}',
  '.*a.*b',
  'a{1,30}a{1,30}a{1,30}b',
  '((a|b)c)*',
  '([ab]+c)*',
  '(a|b){2,}',
]

for (const pattern of QUICK) test(`${pattern} is quick`, () => assert.equal(isSlowPattern(pattern), false))
for (const pattern of SLOW) test(`${pattern} may be slow`, () => assert.equal(isSlowPattern(pattern), true))
