-- Rules by number: in any spelling, with all that stands below, with references both ways.

create or replace function rules._number(
  written text, out letter text, out digits text, out path integer[], out part text
)
language sql immutable strict parallel safe
begin atomic
  -- 7.1.2b and 7.1.2 (b) name a part of 7.1.2; a nought before a number is a misread letter O;
  -- 7-1-2, 7,1,2, 7/1/2, 7:1:2, 7_1_2 and 7 1 2 are 7.1.2, A-41 is A41, (7.1) and sec. 7.1 are 7.1
  select
    found.bits[1],
    found.bits[2],
    regexp_split_to_array(regexp_replace(found.bits[2], '(?<=[0-9])\.0$', ''), '\.')::integer[],
    lower(found.bits[3])
  from (
    select regexp_match(
      regexp_replace(
        regexp_replace(
          regexp_replace(
            regexp_replace(
              upper(
                regexp_replace(written, '^[\s(\[]*(rule|section|sec\M\.?|chapter|ch\M\.?|no\M\.?|§|#)?|(?<=[0-9.])[)\]]\s*$', '', 'gi')
              ), '(?<=[0-9])\s*[-,/:;_.\s]\s*(?=[0-9])', '.', 'g'
            ), '(?<=^\s*[A-Z])\s*[-/:_.]?\s*(?=[0-9])', ''
          ), '\s', '', 'g'
        ), '^0(?=[0-9]{2})', 'O'
      ),
      '^([A-Z]?)([0-9]{1,3}(?:\.[0-9]{1,3})*)\.?\(?([A-Z])?\)?\.?$'
    ) as bits
  ) as found;
end;

comment on function rules._number(text) is
'A rule number as somebody wrote it: letter before it, digits, place in the tree, part of the rule.';

create or replace function rules.find(ruleset text, number text, edition text default null)
returns table (id bigint, rule text, title text, kind text, part text)
language sql stable
begin atomic
  select
    rule.id,
    rule.number,
    rule.title,
    rule.kind,
    written.part
  from
    rules._number(find.number) as written,
    public.rule
    left join public.edition_rule as printed
      on
        rule.id = printed.rule_id
        and printed.rulebook_id = (
          select rulebook.id
          from public.rulebook
          where rulebook.ruleset = find.ruleset and rulebook.edition = find.edition
        )
  where
    rule.ruleset = find.ruleset
    and (
      rule.number = trim(find.number)
      or printed.number = trim(find.number)
      or rule.number in (written.letter || written.digits, written.letter || written.digits || '.0')
      or (rule.path = written.path and (written.letter = '' or rule.number like written.letter || '%'))
    )
  order by
    printed.number is distinct from trim(find.number),
    rule.number <> trim(find.number),
    rule.number <> written.letter || written.digits,
    rule.number <> written.letter || written.digits || '.0',
    rule.number
  limit 1;
end;

comment on function rules.find(text, text, text) is
'The rule of a game that a number names, however it is written: 7.1.2b, o27.3, 021, 6 for 6.0.';

create or replace function rules.subtree(ruleset text, number text)
returns table (id bigint, rule text, title text, depth integer)
language sql stable
begin atomic
  select
    below.id,
    below.number,
    below.title,
    cardinality(below.path) - cardinality(top.path)
  from
    rules.find(subtree.ruleset, subtree.number) as found
    join public.rule as top on found.id = top.id
    join public.rule as below
      on
        top.ruleset = below.ruleset
        and top.path <= below.path
        and top.path || 2147483647 > below.path
  order by below.path, below.number;
end;

comment on function rules.subtree(text, text) is
'A rule and all rules below it, in order.';

create or replace function rules.references(ruleset text, number text)
returns table (direction text, rule text, title text, printed text, edition text, line integer)
language sql stable
begin atomic
  with subject as (
    select found.id
    from rules.find("references".ruleset, "references".number) as found
  ),
  named as (
    select
      'to' as direction,
      link.target_id as other,
      link.printed,
      link.rulebook_id,
      link.line
    from public.rule_reference as link join subject on link.rule_id = subject.id
    where link.target_id is distinct from link.rule_id
    union all
    select
      'from',
      link.rule_id,
      link.printed,
      link.rulebook_id,
      link.line
    from public.rule_reference as link join subject on link.target_id = subject.id
    where link.rule_id is distinct from link.target_id
  )
  select
    named.direction,
    other.number,
    other.title,
    named.printed,
    rulebook.edition,
    named.line
  from
    named
    left join public.rule as other on named.other = other.id
    left join public.rulebook on named.rulebook_id = rulebook.id
  order by
    named.direction = 'from',
    other.path,
    other.number,
    named.printed,
    rulebook.edition is not null,
    rulebook.edition,
    named.line;
end;

comment on function rules.references(text, text) is
'What a rule refers to, and what refers to it, itself apart; no rule: dangling, or an unnumbered glossary.';
