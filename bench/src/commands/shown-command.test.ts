import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownCommand } from './shown-command.js'

const COMMANDS: readonly (readonly [words: readonly string[], shown: string])[] = [
  [['bench', 'run', 'smoke', '--with', 'nginx,envoy'], 'gw bench run smoke --with nginx,envoy'],
  [['run', 'smoke', '--scenario', '*-5kb'], "gw run smoke --scenario '*-5kb'"],
  [['-H', 'accept: s3cret', 'x'], "gw -H 'accept: ***' x"],
  [['-HAuthorization: Bearer s3cret'], "gw '-HAuthorization: ***'"],
  [['--header', 'x-y:s3cret:s3cret'], "gw --header 'x-y: ***'"],
  [['--header=cookie: a=s3cret\ns3cret'], "gw '--header=cookie: ***'"],
  [['--header', 's3cret'], "gw --header '***'"],
  [['--data', '{"a":"s3cret"}', 'http://a/'], "gw --data '***' http://a/"],
  [['--data=s3cret'], "gw '--data=***'"],
  [['--data', '--header', 'http://a/?s3cret'], "gw --data '***' 'http: ***'"],
  [['--data'], 'gw --data'],
  [['--data', '@orders.json', '--data=@b'], 'gw --data @orders.json --data=@b'],
  [['-H', '@secret.headers', '--header=@b', '-H@c'], 'gw -H @secret.headers --header=@b -H@c'],
  [['http://u:s3cret@a/b?id=s3cret&s3cret#s3cret'], "gw 'http://***@a/b?id=***&***#***'"],
  [['--target=http://u:s3cret@a'], "gw '--target=http://***@a'"],
  [['--out', "it's"], "gw --out 'it'\\''s'"],
]

for (const [words, shown] of COMMANDS) {
  test(`a report shows: ${shown}`, () => {
    assert.equal(shownCommand(words), shown)
    assert.doesNotMatch(shown, /s3cret/)
  })
}
