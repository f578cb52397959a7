-- needs: rules/words.sql, rules/find.sql
-- Searching the reference: by number, by words, by what people call a thing, with typing mistakes.
--
-- A rule scores by the share of the query that it answers. Rare words weigh more than
-- common ones; a word in the title more than one in the digest, that more than one in an
-- imported text. A name of a concept or a term leads to the rules that treat it.

create or replace view rules.edition_in_use as
select distinct on (rulebook.ruleset)
  rulebook.id,
  rulebook.ruleset,
  rulebook.edition
from public.rulebook
order by rulebook.ruleset asc, rulebook.chosen desc, rulebook.imported_at desc, rulebook.id desc;

comment on view rules.edition_in_use is
'The imported edition of each game whose text is shown and searched: the chosen one, else the newest import.';

create or replace function rules._question_words()
returns text[]
language sql immutable parallel safe
-- stems of what people wrap a question in; they decide nothing
return array[
  'allow', 'alway', 'anoth', 'back', 'cannot', 'come', 'could', 'decid', 'exact', 'explain', 'far', 'game', 'get', 'give',
  'go', 'got', 'happen', 'long', 'make', 'may', 'mean', 'must', 'need', 'one', 'possibl', 'put',
  'rule', 'still', 'take', 'tell', 'thing', 'twice', 'use', 'want', 'way', 'whether', 'within', 'without', 'work', 'would'
];

comment on function rules._question_words() is
'Stems of words that people wrap a question in.';

create or replace function rules._query_words(words text)
returns table (n bigint, word text, stems text[], names text[], weight double precision, trust double precision)
language sql stable strict
begin atomic
  -- a word nobody has written here is the beginning of one, or else one mistyped
  with typed as (
    select
      written.word,
      written.n,
      rules._stems(written.word) as stem
    -- 3dg is 3 dg
    from
      regexp_split_to_table(regexp_replace(rules._plain(words), '\m([0-9]+)([a-z]{2,})\M', '\1 \2', 'g'), ' ')
      with ordinality as written (word, n)
  ),
  meant as (
    select
      typed.n,
      typed.word,
      coalesce(known.stems, begun.stems, similar_to.stems) as stems,
      case
        when known.stems is not null then array[typed.stem]
        when cardinality(begun.stems) <= 3 or begun.stems is null then coalesce(begun.stems, similar_to.stems)
      end as names,
      case when known.stems is not null then 1 when begun.stems is not null then 0.9 else 0.8 end as trust,
      case when typed.stem = any(rules._question_words()) then 0.1 else 1 end as sense
    from
      typed
      left join lateral (
        select array_agg(distinct also.stem) as stems
        from (
          select word.stem
          from public.word
          where word.stem = typed.stem
          union all
          select other.stems
          from public.synonym as this join public.synonym as other on this.word_group = other.word_group
          where this.stems = typed.stem and other.stems <> ''
        ) as also
      ) as known on true
      left join lateral (
        select array_agg(distinct word.stem) as stems
        from public.word
        where known.stems is null and length(typed.word) > 1 and word.word like typed.word || '%'
      ) as begun on true
      left join lateral (
        select array_agg(close.stem) as stems
        from (
          select word.stem
          from public.word
          where
            known.stems is null
            and begun.stems is null
            and word.word operator (public.%) typed.word
            and public.similarity(word.word, typed.word)
            -- letters that changed places leave few trigrams alike, but the first letter and the length
            > case
              when left(word.word, 1) = left(typed.word, 1) and abs(length(word.word) - length(typed.word)) <= 1 then 0.3
              else 0.36
            end
          order by
            -public.similarity(word.word, typed.word) - case when left(word.word, 1) = left(typed.word, 1) then 0.1 else 0 end,
            -word.rules,
            word.word
          limit 1
        ) as close
      ) as similar_to on true
    where typed.stem <> ''
  )
  select
    meant.n,
    meant.word,
    meant.stems,
    meant.names,
    meant.sense * ln(1 + (select count(*) from public.rule)::double precision / (1 + coalesce(used.rules, 0))),
    meant.trust
  from
    meant
    left join lateral (
      select sum(counted.rules) as rules
      from (
        select max(word.rules) as rules
        from public.word
        where word.stem = any(meant.stems)
        group by word.stem
      ) as counted
    ) as used on true
  where meant.stems is not null;
end;

comment on function rules._query_words(text) is
'The words of a query that carry meaning: their stems, as mended, and how much each weighs.';

create or replace function rules._query_names(words text)
returns table (
  first_n bigint, last_n bigint, words bigint, term_id bigint, concept text, likeness double precision
)
language sql stable strict
begin atomic
  -- every run of words in the query that is a name of a term or a concept; spelled alike is liker
  with token as (
    select
      meant.n,
      meant.word,
      stem.stem
    from rules._query_words(_query_names.words) as meant, lateral unnest(meant.names) as stem (stem)
  ),
  phrase as (
    select
      first.n as first_n,
      last.n as last_n,
      count(*) as words,
      string_agg(inside.word, ' ' order by inside.n) as spelled,
      string_agg(inside.stem, ' ' order by inside.n) as stems
    from
      token as first
      join token as last on first.n <= last.n and first.n + 7 > last.n
      join token as inside on first.n <= inside.n and last.n >= inside.n
    group by first.n, last.n
  )
  select
    phrase.first_n,
    phrase.last_n,
    phrase.words,
    synonym.term_id,
    synonym.concept,
    max(case when rules._plain(synonym.phrase) = phrase.spelled then 1 else 0.9 end)
  from phrase join public.synonym on phrase.stems = synonym.stems
  where synonym.word_group is null
  group by phrase.first_n, phrase.last_n, phrase.words, synonym.term_id, synonym.concept;
end;

comment on function rules._query_names(text) is
'The names of terms and concepts in a query, each with its first and last word.';

create or replace function rules._by_words(words text, ruleset text)
returns table (id bigint, score double precision)
language sql stable
begin atomic
  with name as materialized (
    select
      named.first_n,
      named.last_n,
      named.words,
      named.term_id,
      named.concept,
      named.likeness
    from rules._query_names(_by_words.words) as named
  ),
  meant as materialized (
    select
      found.n,
      -- the words of a name count together as one
      found.weight / coalesce(
        (
          select max(name.words)
          from name
          where found.n between name.first_n and name.last_n
        ), 1
      ) as weight,
      found.trust,
      found.stems,
      (
        select string_agg(quote_literal(stem.stem), ' | ')::tsquery
        from unnest(found.stems) as stem (stem)
      ) as query
    from rules._query_words(_by_words.words) as found
  ),
  said as materialized (
    -- what players say when they look for a rule, as far as the query says it
    select
      synonym.rule_id as id,
      synonym.stems,
      array_agg(distinct meant.n) as words,
      count(distinct part.stem)::double precision
      / (1 + length(synonym.stems) - length(replace(synonym.stems, ' ', ''))) as share
    from
      public.synonym
      cross join lateral unnest(string_to_array(synonym.stems, ' ')) as part (stem)
      join meant on part.stem = any(meant.stems)
    where synonym.rule_id is not null
    group by synonym.rule_id, synonym.stems
  ),
  whole as materialized (
    select
      sum(meant.weight) as weight,
      (
        select avg(length(rule.document))
        from public.rule
      ) as typical
    from meant
  ),
  other_name as materialized (
    select
      name.first_n,
      name.last_n,
      name.words,
      term.ruleset,
      cardinality(string_to_array(also.stems, ' ')) as title_words,
      phraseto_tsquery('public.sightline', also.phrase) as query
    from
      name
      join public.term on name.term_id = term.id
      join public.synonym as also on term.id = also.term_id
  ),
  title as materialized (
    select
      rule.id,
      rule.ruleset,
      rule.path,
      meant.n
    from meant join public.rule on rule.heading @@ meant.query
  ),
  hit as (
    -- worth: how good a hit; presence: how surely the rule speaks of it; title_words: how much of its title
    select
      title.id,
      title.n,
      1.0 as worth,
      1.0 as presence,
      1 as title_words
    from title
    union all
    -- a long digest mentions much: there a word says less
    select
      rule.id,
      meant.n,
      0.45 / (0.7 + 0.3 * length(rule.document) / whole.typical),
      1,
      0
    from
      whole,
      meant
      join public.rule on rule.document @@ meant.query
    union all
    -- a title may have the other name of what the query names
    select
      rule.id,
      meant.n,
      1,
      1,
      sum(other_name.title_words) / max(other_name.words)
    from
      other_name
      join public.rule on other_name.ruleset = rule.ruleset and rule.heading @@ other_name.query
      join meant on meant.n between other_name.first_n and other_name.last_n
    group by rule.id, meant.n
    union all
    -- a rule is read under the titles above it, and under the definitions there
    select
      below.id,
      above.n,
      0.7,
      1,
      0
    from
      (
        select
          title.ruleset,
          title.path,
          title.n
        from title
        union
        select
          rule.ruleset,
          rule.path,
          meant.n
        from
          name
          join public.term on name.term_id = term.id
          join public.rule on term.rule_id = rule.id
          join meant on meant.n between name.first_n and name.last_n
      ) as above
      join public.rule as below
        on
          above.ruleset = below.ruleset
          and above.path < below.path
          and above.path || 2147483647 > below.path
    union all
    select
      use.rule_id,
      meant.n,
      0.35,
      0.8,
      0
    from
      name
      join public.rule_term as use on name.term_id = use.term_id
      join meant on meant.n between name.first_n and name.last_n
    union all
    select
      treated.rule_id,
      meant.n,
      case when name.words > 1 then 0.5 else 0.2 end / (1 + 0.25 * (treated.n - 1)),
      case when name.words > 1 then 1 else 0.3 end / (1 + 0.25 * (treated.n - 1)),
      0
    from
      name
      join public.concept_rule as treated on name.concept = treated.concept
      join meant on meant.n between name.first_n and name.last_n
    union all
    select
      rule_text.rule_id,
      meant.n,
      0.15,
      0.6,
      0
    from
      meant
      join public.rule_text on rule_text.document @@ meant.query
      join rules.edition_in_use as shown on rule_text.rulebook_id = shown.id
    union all
    select
      said.id,
      word.n,
      0.8,
      1,
      0
    from said, lateral unnest(said.words) as word (n)
    union all
    -- what changes a rule is part of it
    select
      erratum.rule_id,
      meant.n,
      0.45,
      1,
      0
    from
      meant
      join public.erratum on to_tsvector('public.sightline', erratum.effect) @@ meant.query
    where
      erratum.withdrawn_at is null
      and erratum.since <= current_date
      and (erratum.ends is null or erratum.ends > current_date)
  ),
  best as (
    select
      hit.id,
      hit.n,
      max(hit.worth) as worth,
      max(hit.presence) as presence,
      max(hit.title_words) as title_words
    from hit
    group by hit.id, hit.n
  ),
  by_word as (
    select
      best.id,
      sum(meant.weight * meant.trust * best.worth) as worth,
      sum(meant.weight * best.presence) as presence,
      sum(case when best.title_words > 0 then meant.weight else 0 end) as title_weight,
      sum(best.title_words) as title_words
    from best join meant on best.n = meant.n
    group by best.id
  ),
  pair as materialized (
    select
      meant.weight + next.weight as weight,
      meant.query <-> next.query as query
    from meant join meant as next on meant.n + 1 = next.n and least(meant.weight, next.weight) > 1
  ),
  by_neighbours as (
    -- words that stand side by side in the query and in the rule
    select
      rule.id,
      sum(pair.weight) / (select sum(every.weight) from pair as every) as share
    from pair join public.rule on rule.document @@ pair.query
    group by rule.id
  ),
  share as (
    select
      name.term_id,
      name.concept,
      (sum(meant.weight) / max(whole.weight)) ^ 2 * max(name.likeness) as share
    from name, meant, whole
    where meant.n between name.first_n and name.last_n
    group by name.term_id, name.concept, name.first_n, name.last_n
  ),
  by_name as (
    select
      named.id,
      max(named.share) as share
    from (
      select
        treated.rule_id as id,
        0.35 * share.share / (1 + 0.25 * (treated.n - 1)) as share
      from share join public.concept_rule as treated on share.concept = treated.concept
      union all
      select
        term.rule_id,
        -- a rule that defines many terms is a glossary, seldom the answer
        0.4 * share.share / sqrt(counted.terms)
      from
        share
        join public.term on share.term_id = term.id
        join (
          select
            also.rule_id,
            count(*) as terms
          from public.term as also
          group by also.rule_id
        ) as counted on term.rule_id = counted.rule_id
    ) as named
    group by named.id
  ),
  by_phrase as (
    select
      phrase.id,
      max(phrase.share * phrase.weight) as share
    from (
      select
        said.id,
        said.share,
        sum(meant.weight) / max(whole.weight) as weight
      from whole, said join meant on meant.n = any(said.words)
      group by said.id, said.stems, said.share
    ) as phrase
    group by phrase.id
  )
  select
    rule.id,
    (
      coalesce(by_word.worth * by_word.presence / whole.weight ^ 2, 0)
      + 0.45 * coalesce(by_phrase.share, 0)
      + 0.35 * coalesce(
        by_word.title_weight / whole.weight
        * least(by_word.title_words::double precision / greatest(length(rule.heading), 1), 1), 0
      )
      + 0.15 * coalesce(by_neighbours.share, 0)
      + coalesce(by_name.share, 0)
    ) * case rule.kind when 'unused' then 0.5 when 'section' then 0.9 else 1 end
  from
    whole,
    public.rule
    left join by_word on rule.id = by_word.id
    left join by_neighbours on rule.id = by_neighbours.id
    left join by_name on rule.id = by_name.id
    left join by_phrase on rule.id = by_phrase.id
  where
    (by_word.id is not null or by_name.id is not null)
    and (_by_words.ruleset is null or rule.ruleset = _by_words.ruleset);
end;

comment on function rules._by_words(text, text) is
'How well each rule answers the words of a query.';

create or replace function rules._by_number(words text, ruleset text)
returns table (id bigint, score double precision)
language sql stable
begin atomic
  -- the whole query is a number, or some of its words can be nothing else: 7.1.2b, O27
  with written as (
    select
      _by_number.words as number,
      true as alone
    where (rules._number(_by_number.words)).digits is not null
    union all
    select
      token.match[1],
      false
    from
      regexp_matches(
        _by_number.words,
        -- with a point, or with - , / where it can be nothing else
        '(?:^|[\s(\[])([oaetf]?[0-9]{1,3}(?:\.[0-9]{1,3})+[a-z]?|[oaetf]-?[0-9]{2,3}(?:[.,/-][0-9]{1,3})*[a-z]?|[0-9]{1,2}(?:[,/-][0-9]{1,2}){2,}[a-z]?)(?![\w.])',
        'gi'
      ) as token (match)
    where (rules._number(_by_number.words)).digits is null
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

create or replace function rules.absent(words text, ruleset text)
returns table (game text, concept text, title text, games text[], nearest text[])
language sql stable
begin atomic
  -- a name of a concept that is nearly the whole query, of which the game has neither a rule nor a word
  with wanted as (
    select rules._narrowed(absent.words, absent.ruleset) as game
  ),
  word as materialized (
    select
      found.n,
      found.weight
    from rules._query_words(absent.words) as found
  ),
  name as materialized (
    select
      found.concept,
      found.term_id,
      found.first_n,
      found.last_n
    from rules._query_names(absent.words) as found
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
    and named.weight >= 0.6 * (
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

comment on function rules.absent(text, text) is
'What a game does not have though the words name it: the concept, the games that have it, and the rules that come nearest.';

create or replace function rules.search(words text, ruleset text default null, "limit" integer default 20)
returns table (
  game text, rule text, title text, kind text, headline text, score double precision, errata bigint
)
language plpgsql stable
as $$
#variable_conflict use_column
declare
  narrowed text := rules._narrowed(search.words, search.ruleset);
  rest text := trim(search.words);
  query tsquery;
begin
  if narrowed is not null then
    rest := trim(regexp_replace(rest, '\m' || narrowed || '\M', ' ', 'gi'));
  end if;
  select string_agg(quote_literal(stem.stem), ' | ')::tsquery into query
  from rules._query_words(rest) as meant, lateral unnest(meant.stems) as stem (stem);
  return query
  with hit as materialized (
    select * from rules._by_number(rest, narrowed)
    union all
    select * from rules._by_words(rest, narrowed)
    where (rules._number(rest)).digits is null
    union all
    select
      rule.id,
      9 - 0.1 * near.n
    from
      rules.absent(search.words, narrowed) as lacking
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
      best.score
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
    )
  from shown
  order by shown.score desc, shown.ruleset asc, shown.path asc, shown.number asc;
end;
$$;

comment on function rules.search(text, text, integer) is
'Rules that answer some words or a number, the best first; a game''s code among the words narrows the search.';
