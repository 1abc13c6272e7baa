import type { Pack } from './pack.js'

/** SQL that somebody smuggles into a value. */
export const SQLI: Pack = {
  version: 1,
  rules: [
    {
      name: 'union-select',
      score: 5,
      pattern: String.raw`\bunion[ (]{1,4}(?:(?:all|distinct)[ (]{1,4})?select\b`,
    },
    {
      name: 'quoted-tautology',
      score: 5,
      pattern: String.raw`['"](?: |\)|\) )?(?:or|and|xor|\|\||&&)[ (]{0,4}(?:not )?['"]?[\w.]+['"]?[ )]{0,4}(?:[=<>]|!=|(?:like|in|is|between|regexp) )`,
    },
    {
      name: 'numeric-tautology',
      score: 5,
      pattern: String.raw`\b(?:or|and|xor) \d\d* ?(?:[=<>]|!=|like ) ?\d+\b`,
    },
    { name: 'comment-after-quote', score: 5, pattern: String.raw`'(?: |\)|\) )?--` },
    {
      name: 'second-statement',
      score: 5,
      pattern: String.raw`; ?(?:(?:drop|alter|truncate|create) (?:table|database|schema|user|view|index|function|procedure)|insert into|delete from|exec(?:ute)? |shutdown\b|declare @|update [\w.]+ set )`,
    },
    {
      name: 'delay',
      score: 5,
      pattern: String.raw`\b(?:(?:pg_)?sleep ?\( ?\d|benchmark ?\( ?\d{3}|waitfor delay\b|dbms_(?:pipe|lock)\.)`,
    },
    {
      name: 'files',
      score: 5,
      pattern: String.raw`\b(?:into (?:out|dump)file|load_file ?\(|load data (?:local )?infile|xp_(?:cmdshell|dirtree|regread))`,
    },
    {
      name: 'catalogue',
      score: 5,
      pattern: String.raw`\b(?:information_schema ?\.|pg_catalog ?\.|sysobjects\b|sqlite_master\b|mysql ?\. ?user\b)`,
    },
    {
      name: 'select-from',
      score: 5,
      pattern: String.raw`\bselect (?:\*|@@\w+|(?:count|concat|char|version|user|database) ?\(|[\w.]+ ?,)[^;"]*\bfrom\b`,
    },
    {
      name: 'functions',
      score: 5,
      pattern: String.raw`\b(?:extractvalue|updatexml|group_concat|utl_http\.request|utl_inaddr) ?\(|\bchar ?\( ?\d+ ?,`,
    },
    { name: 'order-by-probe', score: 3, pattern: String.raw`['")] ?(?:order|group) by \d+\b` },
    { name: 'having-probe', score: 3, pattern: String.raw`['")] ?having \d+ ?=` },
  ],
}
