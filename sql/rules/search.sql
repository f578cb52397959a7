-- needs: rules/ranking.sql, rules/find.sql
-- Searching the reference: by number, by words, by what people call a thing, with typing mistakes.

create or replace function rules._numbers_in(words text)
returns table (number text, alone boolean)
language sql immutable strict
begin atomic
  select
    _numbers_in.words,
    true
  where (rules._number(_numbers_in.words)).digits is not null
  union all
  select
    token.match[1],
    false
  from
    regexp_matches(
      _numbers_in.words,
      -- with a point, or with - , / where it can be nothing else
      '(?:^|[\s(\[])([oaetf]?[0-9]{1,3}(?:\.[0-9]{1,3})+[a-z]?|[oaetf]-?[0-9]{2,3}(?:[.,/-][0-9]{1,3})*[a-z]?|[0-9]{1,2}(?:[,/-][0-9]{1,2}){2,}[a-z]?)(?![\w.])',
      'gi'
    ) as token (match)
  where (rules._number(_numbers_in.words)).digits is null;
end;

comment on function rules._numbers_in(text) is
'The numbers of rules in a query: the whole of it, or the words that can be nothing else: 7.1.2b, O27.';

create or replace function rules._by_number(words text, ruleset text)
returns table (id bigint, score double precision)
language sql stable
begin atomic
  with written as (
    select *
    from rules._numbers_in(_by_number.words)
  ),
  found as (
    select
      rule.id,
      rule.ruleset,
      rule.path,
      written.alone,
      -- 8.2.4 is 8.2.4 before it is a spelling of 8.24
      (rules._number(rule.number)).digits = (rules._number(written.number)).digits as exactly
    from
      written,
      public.ruleset as game,
      lateral rules.find(game.code, written.number) as found
      join public.rule on found.id = rule.id
    where _by_number.ruleset is null or game.code = _by_number.ruleset
  )
  select
    found.id,
    case when found.exactly then 10 else 9.9 end
  from found
  union all
  select
    below.id,
    5 - 0.1 * (cardinality(below.path) - cardinality(found.path))
  from
    found
    join public.rule as below
      on
        found.ruleset = below.ruleset
        and found.path < below.path
        and found.path || 2147483647 > below.path
  where found.alone;
end;

comment on function rules._by_number(text, text) is
'The rules whose numbers a query names, and what stands below them where it names nothing else.';

create or replace function rules._by_likeness(words text, ruleset text)
returns table (id bigint, score double precision)
language sql stable
begin atomic
  -- for a query of words that carry no meaning, or that nobody has written here
  select
    rule.id,
    0.1 * public.word_similarity(rules._plain(_by_likeness.words), rules._plain(rule.title))
    + 0.1 * ts_rank(to_tsvector('simple', rules._plain(rule.title || ' ' || rule.digest)), typed.query)
  from
    public.rule,
    (
      select string_agg(quote_literal(word.word), ' | ')::tsquery as query
      from regexp_split_to_table(rules._plain(_by_likeness.words), ' ') as word (word)
      where word.word <> ''
    ) as typed
  where
    (_by_likeness.ruleset is null or rule.ruleset = _by_likeness.ruleset)
    and (
      public.word_similarity(rules._plain(_by_likeness.words), rules._plain(rule.title)) > 0.4
      or to_tsvector('simple', rules._plain(rule.title || ' ' || rule.digest)) @@ typed.query
    );
end;

comment on function rules._by_likeness(text, text) is
'Rules that have the very words of a query, however common, or a title that looks like it.';

create or replace function rules._headline(id bigint, query tsquery)
returns text
language sql stable
begin atomic
  with source as (
    select coalesce(
      case when to_tsvector('public.sightline', rule.digest) @@ _headline.query then rule.digest end,
      (
        select erratum.effect
        from public.erratum
        where
          erratum.rule_id = rule.id
          and erratum.withdrawn_at is null
          and to_tsvector('public.sightline', erratum.effect) @@ _headline.query
        order by erratum.since desc, erratum.id desc
        limit 1
      ),
      (
        -- without the decoration of a text file
        select regexp_replace(passage.text, '[*_]{2,}|<[^>]*>|\^\{|(^|\n)#+ *', '\1', 'g')
        from
          public.rule_text as passage
          join rules.edition_in_use as shown on passage.rulebook_id = shown.id
        where passage.rule_id = rule.id and passage.document @@ _headline.query
        order by ts_rank(passage.document, _headline.query) desc, passage.rulebook_id desc, passage.n asc
        limit 1
      ),
      case when to_tsvector('public.sightline', rule.chart_words) @@ _headline.query then rule.chart_words end,
      rule.digest
    ) as words
    from public.rule
    where rule.id = _headline.id
  ),
  sentence as (
    select
      piece.words,
      piece.n,
      coalesce(ts_rank(to_tsvector('public.sightline', piece.words), _headline.query), 0) as rank
    from
      source,
      lateral regexp_split_to_table(source.words, '(?<=[.;:])\s+|\n+') with ordinality as piece (words, n)
  ),
  chosen as (
    select
      sentence.words,
      sentence.n,
      sentence.n - lag(sentence.n) over (order by sentence.n) as gap
    from (
      select *
      from sentence
      order by sentence.rank desc, sentence.n asc
      limit 2
    ) as sentence
  )
  select ts_headline(
    'public.sightline',
    string_agg(
      case when chosen.gap > 1 then '… ' else '' end || left(chosen.words, 300), ' '
      order by chosen.n
    ),
    coalesce(_headline.query, ''::tsquery),
    'StartSel=‹, StopSel=›, HighlightAll=true'
  )
  from chosen;
end;

comment on function rules._headline(bigint, tsquery) is
'The sentences of a digest, failing that of an imported text, that have a query''s words, marked ‹so›.';

create or replace function rules._narrowed(words text, ruleset text)
returns text
language sql stable
begin atomic
  select coalesce(
    _narrowed.ruleset,
    (
      select game.code
      from public.ruleset as game
      where _narrowed.words ~* ('\m' || game.code || '\M')
      order by game.code
      limit 1
    )
  );
end;

comment on function rules._narrowed(text, text) is
'The game that a search is about: the one given, else one whose code stands among the words.';

create or replace function rules._absent(query rules.query, game text)
returns table (game text, concept text, title text, games text[], nearest text[])
language sql stable
begin atomic
  -- a name of a concept that is about half of the query by weight, of which the game has neither a rule nor a word
  with wanted as (
    select _absent.game
  ),
  word as materialized (
    select distinct
      found.n,
      found.weight
    from unnest((_absent.query).words) as found
  ),
  name as materialized (
    select
      found.concept,
      found.term_id,
      found.first_n,
      found.last_n
    from unnest((_absent.query).names) as found
  ),
  named as (
    select
      name.concept,
      name.first_n,
      name.last_n,
      (
        select sum(word.weight)
        from word
        where word.n between name.first_n and name.last_n
      ) as weight
    from name
    where name.concept is not null
  )
  select
    wanted.game,
    concept.code,
    concept.title,
    array(
      select distinct rule.ruleset
      from public.concept_rule as treated join public.rule on treated.rule_id = rule.id
      where treated.concept = concept.code
      order by rule.ruleset
    ),
    array(select jsonb_array_elements_text(concept.nearest -> wanted.game))
  from
    wanted,
    named
    join public.concept on named.concept = concept.code
  where
    wanted.game is not null
    and named.weight >= 0.45 * (
      select sum(word.weight)
      from word
    )
    and not exists (
      select
      from public.concept_rule as treated join public.rule on treated.rule_id = rule.id
      where treated.concept = concept.code and rule.ruleset = wanted.game
    )
    and not exists (
      select
      from name as also join public.term on also.term_id = term.id
      where term.ruleset = wanted.game and also.first_n <= named.first_n and also.last_n >= named.last_n
    )
  order by named.weight desc, concept.n asc
  limit 1;
end;

comment on function rules._absent(rules.query, text) is
'What a game does not have though a query names it.';

create or replace function rules.absent(words text, ruleset text)
returns table (game text, concept text, title text, games text[], nearest text[])
language sql stable
begin atomic
  select lacking.*
  from
    rules._narrowed(absent.words, absent.ruleset) as wanted (game),
    lateral rules._absent(
      rules._understood(regexp_replace(absent.words, '\m' || wanted.game || '\M', ' ', 'gi')), wanted.game
    ) as lacking;
end;

comment on function rules.absent(text, text) is
'What a game does not have though the words name it: the concept, the games that have it, and the rules that come nearest.';

create or replace function rules.search(words text, ruleset text default null, "limit" integer default 20)
returns table (
  game text, rule text, title text, kind text, headline text, score double precision, errata bigint,
  total bigint
)
language plpgsql stable
as $$
#variable_conflict use_column
declare
  narrowed text := rules._narrowed(search.words, search.ruleset);
  rest text := trim(search.words);
  asked rules.query;
  query tsquery;
begin
  if narrowed is not null then
    rest := trim(regexp_replace(rest, '\m' || narrowed || '\M', ' ', 'gi'));
  end if;
  asked := rules._understood(rest);
  select string_agg(distinct quote_literal(stem), ' | ')::tsquery into query
  from unnest(asked.words);
  return query
  with hit as materialized (
    select * from rules._by_number(rest, narrowed)
    union all
    select * from rules._by_words(asked, narrowed)
    where (rules._number(rest)).digits is null
    union all
    select
      rule.id,
      9 - 0.1 * near.n
    from
      rules._absent(asked, narrowed) as lacking
      cross join lateral unnest(lacking.nearest) with ordinality as near (number, n)
      join public.rule on near.number = rule.number and rule.ruleset = lacking.game
  ),
  answer as (
    select * from hit
    union all
    select * from rules._by_likeness(rest, narrowed)
    where not exists (select from hit)
  ),
  best as (
    select
      answer.id,
      max(answer.score) as score
    from answer
    group by answer.id
  ),
  shown as (
    select
      rule.id,
      rule.ruleset,
      rule.number,
      rule.path,
      rule.title,
      rule.kind,
      best.score,
      count(*) over () as total
    from best join public.rule on best.id = rule.id
    order by best.score desc, rule.ruleset asc, rule.path asc, rule.number asc
    limit search."limit"
  )
  select
    shown.ruleset,
    shown.number,
    shown.title,
    shown.kind,
    rules._headline(shown.id, query),
    shown.score,
    (
      select count(*)
      from public.erratum
      where
        erratum.rule_id = shown.id
        and erratum.withdrawn_at is null
        and erratum.since <= current_date
        and (erratum.ends is null or erratum.ends > current_date)
    ),
    shown.total
  from shown
  order by shown.score desc, shown.ruleset asc, shown.path asc, shown.number asc;
end;
$$;

comment on function rules.search(text, text, integer) is
'Rules that answer some words or a number, the best first, and how many there are in all; a game''s code among the words narrows the search.';
