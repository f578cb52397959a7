-- needs: rules/queries.sql
-- How well a rule answers some words: features of it, each from 0 to 1, and what each counts (table ranking).
--
-- A feature is mostly the share of the query that is found somewhere: in the title, in the digest, in what
-- players ask for. Rare words weigh more than common ones (rules._query_words).

create or replace view rules.edition_in_use as
select distinct on (rulebook.ruleset)
  rulebook.id,
  rulebook.ruleset,
  rulebook.edition
from public.rulebook
order by rulebook.ruleset asc, rulebook.chosen desc, rulebook.imported_at desc, rulebook.id desc;

comment on view rules.edition_in_use is
'The imported edition of each game whose text is shown and searched: the chosen one, else the newest import.';

create or replace function rules._by_place(words rules.query_word[])
returns table (
  id bigint, title double precision, title_share double precision, digest double precision, above double precision,
  asked double precision, points double precision, terms double precision, text double precision, whole double precision
)
language sql stable strict
begin atomic
  -- where a rule has the words: its own, those of its imported text, those of what changes it
  with meant as materialized (
    select *
    from unnest(_by_place.words)
  ),
  hit as (
    select
      placed.rule_id,
      meant.n,
      meant.share,
      meant.trust * sign(placed.title) as title,
      meant.trust * placed.title / 1000 as title_share,
      meant.trust * placed.digest / 1000 as digest,
      meant.trust * sign(placed.digest) as said,
      meant.trust * placed.above::integer as above,
      meant.trust * placed.asked::integer as asked,
      meant.trust * placed.points::integer as points,
      meant.trust * placed.terms::integer as terms,
      0::double precision as text
    from meant join public.rule_word as placed on meant.stem = placed.stem
    union all
    select
      passage.rule_id,
      meant.n,
      meant.share,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      meant.trust
    from
      meant
      join public.rule_text as passage on passage.document @@ quote_literal(meant.stem)::tsquery
      join rules.edition_in_use as shown on passage.rulebook_id = shown.id
    union all
    select
      erratum.rule_id,
      meant.n,
      meant.share,
      0,
      0,
      meant.trust as digest,
      meant.trust as said,
      0,
      0,
      0,
      0,
      0
    from
      meant
      join public.erratum on to_tsvector('public.sightline', erratum.effect) @@ quote_literal(meant.stem)::tsquery
    where
      erratum.withdrawn_at is null
      and erratum.since <= current_date
      and (erratum.ends is null or erratum.ends > current_date)
  ),
  best as (
    select
      hit.rule_id,
      hit.share,
      max(hit.title) as title,
      max(hit.title_share) as title_share,
      max(hit.digest) as digest,
      max(hit.said) as said,
      max(hit.above) as above,
      max(hit.asked) as asked,
      max(hit.points) as points,
      max(hit.terms) as terms,
      max(hit.text) as text
    from hit
    group by hit.rule_id, hit.n, hit.share
  )
  select
    best.rule_id,
    sum(best.share * best.title),
    least(sum(best.title_share), 1),
    sum(best.share * best.digest),
    sum(best.share * best.above),
    sum(best.share * best.asked),
    sum(best.share * best.points),
    sum(best.share * best.terms),
    sum(best.share * best.text),
    sum(best.share * greatest(best.title, best.asked, best.said, best.above, 0.6 * best.terms, 0.6 * best.text))
  from best
  group by best.rule_id;
end;

comment on function rules._by_place(rules.query_word[]) is
'Which share of a query each rule has, and where: title, digest, titles above, what players ask for, anywhere.';

create or replace function rules._phrases(words rules.query_word[])
returns table (
  phrase bigint, rule_id bigint, mass double precision, n bigint,
  share double precision, trust double precision, rarity double precision
)
language sql stable
begin atomic
  select
    synonym.id,
    synonym.rule_id,
    synonym.mass,
    meant.n,
    max(meant.share),
    max(meant.trust),
    max(meant.rarity)
  from public.synonym join unnest(_phrases.words) as meant on meant.stem = any(synonym.parts)
  where
    synonym.rule_id is not null
    and synonym.parts && array(
      select word.stem
      from unnest(_phrases.words) as word
    )
  group by synonym.id, synonym.rule_id, synonym.mass, meant.n;
end;

comment on function rules._phrases(rules.query_word[]) is
'What players say when they look for a rule, where a query has some of it: a row for each word of the query.';

create or replace function rules._likeness(share double precision, rarity double precision, mass double precision)
returns double precision
language sql immutable strict parallel safe
return share * least(rarity / (1 + mass), 1);

comment on function rules._likeness(double precision, double precision, double precision) is
'How nearly a query is a phrase: the share of the query that is in it, less where the phrase says more than the query.';

create or replace function rules._by_phrase(words rules.query_word[])
returns table (id bigint, share double precision, often double precision)
language sql stable strict
begin atomic
  with said as materialized (
    select *
    from rules._phrases(_by_phrase.words)
  ),
  whole as (
    select
      said.rule_id,
      rules._likeness(sum(said.share * said.trust), sum(said.rarity), said.mass) as share
    from said
    group by said.phrase, said.rule_id, said.mass
  ),
  nearest as (
    select
      whole.rule_id,
      max(whole.share) as share
    from whole
    group by whole.rule_id
  ),
  word as (
    -- in one phrase of a rule by chance, in many because it is what the rule is about
    select
      said.rule_id,
      said.n,
      max(said.share) * sum(said.trust) / (sum(said.trust) + 1.5) as share
    from said
    group by said.rule_id, said.n
  ),
  repeated as (
    select
      word.rule_id,
      sum(word.share) as often
    from word
    group by word.rule_id
  )
  select
    nearest.rule_id,
    nearest.share,
    repeated.often
  from nearest join repeated on nearest.rule_id = repeated.rule_id;
end;

comment on function rules._by_phrase(rules.query_word[]) is
'How nearly a query is something that players say when they look for a rule, and how often they say its words then.';

create or replace function rules._by_name(query rules.query)
returns table (id bigint, concept double precision, term double precision)
language sql stable strict
begin atomic
  with share as (
    select
      name.term_id,
      name.concept,
      sum(word.share) ^ 2 * max(name.likeness) as share
    from
      unnest((_by_name.query).names) as name
      join (
        select distinct
          meant.n,
          meant.share
        from unnest((_by_name.query).words) as meant
      ) as word on word.n between name.first_n and name.last_n
    group by name.term_id, name.concept, name.first_n, name.last_n
  ),
  defined as (
    -- a rule that defines many terms is a glossary, seldom the answer
    select
      term.rule_id,
      count(*) as terms
    from public.term
    where term.rule_id is not null
    group by term.rule_id
  ),
  named as (
    select
      treated.rule_id,
      share.share / (1 + 0.25 * (treated.n - 1)) as concept,
      0 as term
    from share join public.concept_rule as treated on share.concept = treated.concept
    union all
    select
      term.rule_id,
      0,
      share.share / sqrt(defined.terms)
    from
      share
      join public.term on share.term_id = term.id
      join defined on term.rule_id = defined.rule_id
  )
  select
    named.rule_id,
    max(named.concept),
    max(named.term)
  from named
  group by named.rule_id;
end;

comment on function rules._by_name(rules.query) is
'The rules that treat a concept or define a term which the query names, and how much of the query names it.';

create or replace function rules._by_neighbours(words rules.query_word[])
returns table (id bigint, share double precision)
language sql stable strict
begin atomic
  -- words that stand side by side in the query and in the rule, or with one more between them
  with word as (
    select
      row_number() over (order by meant.n) as n,
      max(meant.share) as share,
      max(meant.rarity) as rarity,
      string_agg(quote_literal(meant.stem), ' | ')::tsquery as query
    from unnest(_by_neighbours.words) as meant
    group by meant.n
  ),
  pair as materialized (
    select
      word.share + next.share as share,
      word.query <-> next.query || tsquery_phrase(word.query, next.query, 2) as query
    from word join word as next on word.n + 1 = next.n and least(word.rarity, next.rarity) > 1
  )
  select
    rule.id,
    sum(pair.share) / (select sum(every.share) from pair as every)
  from pair join public.rule on rule.document @@ pair.query
  group by rule.id;
end;

comment on function rules._by_neighbours(rules.query_word[]) is
'Which share of the words that stand side by side in a query stand so in the rule.';

create or replace function rules._features(query rules.query)
returns table (id bigint, feature text, value double precision)
language sql stable strict
begin atomic
  with placed as materialized (
    select *
    from rules._by_place((_features.query).words)
  ),
  phrased as materialized (
    select *
    from rules._by_phrase((_features.query).words)
  )
  select
    placed.id,
    looked.feature,
    looked.value
  from
    placed
    cross join lateral (
      values
      ('title', placed.title),
      ('title_share', placed.title_share),
      ('digest', placed.digest),
      ('above', placed.above),
      ('asked', placed.asked),
      ('points', placed.points),
      ('terms', placed.terms),
      ('text', placed.text),
      ('whole', placed.whole),
      ('whole_squared', placed.whole ^ 2)
    ) as looked (feature, value)
  where looked.value > 0
  union all
  select
    phrased.id,
    looked.feature,
    looked.value
  from
    phrased
    cross join lateral (values ('phrase', phrased.share), ('often', phrased.often)) as looked (feature, value)
  union all
  -- where the rule above answers, one below it that has some of the words is likelier to
  select
    placed.id,
    'parent',
    (upper.whole ^ 2 + coalesce(phrased.share, 0)) / 2
  from
    placed
    join public.rule on placed.id = rule.id
    join placed as upper on rule.parent_id = upper.id
    left join phrased on upper.id = phrased.id
  union all
  select
    found.id,
    looked.feature,
    looked.value
  from
    rules._by_name(_features.query) as found
    cross join lateral (values ('concept', found.concept), ('term', found.term)) as looked (feature, value)
  where looked.value > 0
  union all
  select
    found.id,
    'neighbours',
    found.share
  from rules._by_neighbours((_features.query).words) as found
  union all
  select
    placed.id,
    rule.kind,
    1
  from placed join public.rule on placed.id = rule.id
  where rule.kind <> 'rule';
end;

comment on function rules._features(rules.query) is
'What speaks for each rule, and against it, as an answer to some words; each from 0 to 1.';

create or replace function rules._by_words(query rules.query, ruleset text)
returns table (id bigint, score double precision)
language sql stable
begin atomic
  select
    rule.id,
    sum(found.value * ranking.weight) / 1000
  from
    rules._features(_by_words.query) as found
    join public.ranking on found.feature = ranking.feature
    join public.rule on found.id = rule.id
  where _by_words.ruleset is null or rule.ruleset = _by_words.ruleset
  group by rule.id;
end;

comment on function rules._by_words(rules.query, text) is
'How well each rule answers the words of a query.';
