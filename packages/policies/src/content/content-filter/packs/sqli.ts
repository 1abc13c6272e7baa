import type { Pack } from './pack.js'

/** A quote, a bracket or a number, after which a statement continues. */
const BEHIND_VALUE = String.raw`(?:['")\d] |[')\d])`
const TABLE = '[\\w.`"\\[\\]]+'

/** SQL injected into a value. */
export const SQLI: Pack = {
  version: 1,
  rules: [
    {
      name: 'union-select',
      score: 5,
      pattern: `(?:${BEHIND_VALUE}|\\b)union[ (]{1,4}(?:all|distinct)[ (]{1,4}select\\b|${BEHIND_VALUE}union[ (]{1,4}select\\b|\\bunion[ (]{1,4}select(?: ?[\\d('"@*!~+.\`$-]| (?:null\\b|[\\w.]+ ?[(,#]|[\\w.]+ ?--|[\\w.]+ from\\b))`,
    },
    {
      name: 'quoted-tautology',
      score: 5,
      pattern: String.raw`['"](?: |\)|\) )?(?:or|and|xor|\|\||&&)[ (]{0,4}(?:not )?(?:'[\w.]*'|"[\w.]*"|[\w.]+)[ )]{0,4}(?:[=<>]|!=|(?:not )?(?:like ?['"%]|in ?\(|between ['"\d]|r?like ?['"]|regexp ?['"])|is (?:not )?null\b)`,
    },
    {
      name: 'numeric-tautology',
      score: 5,
      pattern: String.raw`(?:(?:^|[=:,("'&]) ?[\w.%'"-]{1,64}[)'"]* |^ ?)(?:or|and|xor) \(*(?:'\w*' ?= ?'|\d+(?:(?: ?(?:!=|<>|=) ?| like )\d+|[<>]=?\d+| ?[<>]=? ?\d+ ?(?:--|#)) ?(?:$|--|#|;|\)|["'&,}]|(?:or|and|union|order|group|having|limit)\b))`,
    },
    { name: 'comment-after-quote', score: 5, pattern: String.raw`'\)?--|'\)? -- ?(?:$|[^ \w])` },
    {
      name: 'second-statement',
      score: 5,
      pattern: `; ?(?:(?:drop|alter|truncate|create) (?:or replace )?(?:table|database|schema|user|view|index|function|procedure) (?:if (?:not )?exists )?${TABLE} ?(?:$|[;(#'"&,}]|--|(?:as|cascade|restrict|add|drop|modify|rename|change|on|identified)\\b)|insert into ${TABLE} ?(?:\\(|values\\b|select\\b|set )|delete from ${TABLE} ?(?:$|[;#'"&,}]|--|where\\b|limit\\b)|exec(?:ute)?(?: ?\\(| (?:immediate\\b|[sx]p_|master\\b|['@]))|shutdown ?(?:$|[;#]|--|with\\b)|declare @|update ${TABLE} set [\\w.\`]+ ?=)`,
    },
    {
      name: 'delay',
      score: 5,
      pattern: String.raw`\b(?:(?:pg_)?sleep ?\( ?\d[\d.]* ?[-+*/,)]|benchmark ?\( ?\d{3,} ?,|waitfor delay ?['"@\d]|dbms_(?:pipe|lock)\.)`,
    },
    {
      name: 'files',
      score: 5,
      pattern: String.raw`\b(?:into (?:out|dump)file ?['"(@\d]|load_file ?\(|load data (?:local )?infile|xp_(?:cmdshell|dirtree|regread))`,
    },
    {
      name: 'catalogue',
      score: 5,
      pattern: String.raw`\b(?:information_schema(?: ?\. ?(?:tables|columns|schemata|routines)\b|\.\w)|pg_catalog ?\.|sysobjects\b|sqlite_master\b|mysql ?\. ?user\b)`,
    },
    {
      name: 'select-from',
      score: 5,
      pattern: `\\bselect (?:\\*|@@\\w+|(?:count|concat|char|version|user|database) ?\\([^;"]*|[\\w.]+(?: ?, ?[\\w.*()'@]+)+) ?from ${TABLE}(?: (?:as )?\\w{1,3})? ?(?:$|[;,)#'"/&}]|--|(?:where|limit|order|group|having|join|inner|left|right|natural|cross|union|procedure|into)\\b)`,
    },
    {
      name: 'functions',
      score: 5,
      pattern: String.raw`\b(?:extractvalue|updatexml|group_concat|utl_http\.request|utl_inaddr) ?\(|\bchar\(\d+ ?,`,
    },
    { name: 'order-by-probe', score: 3, pattern: String.raw`['")] ?(?:order|group) by \d+\b` },
    { name: 'having-probe', score: 3, pattern: String.raw`['")] ?having \d+ ?=` },
  ],
}
