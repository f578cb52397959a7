-- needs: rules/words.sql
-- What somebody typed: its words, what each may mean, how much it weighs, and the names of things in it.

drop type if exists rules.query_word cascade;

create type rules.query_word as (
  n bigint,
  word text,
  stem text,
  trust double precision,
  named boolean,
  weight double precision,
  share double precision,
  rarity double precision
);

comment on type rules.query_word is
'A stem that the nth word of a query may mean; weight is the word''s, share its part of the whole query, rarity the stem''s.';

drop type if exists rules.query_name cascade;

create type rules.query_name as (
  first_n bigint,
  last_n bigint,
  words bigint,
  term_id bigint,
  concept text,
  likeness double precision
);

comment on type rules.query_name is
'A name of a term or a concept in a query, with its first and last word.';

drop type if exists rules.query cascade;

create type rules.query as (
  words rules.query_word [],
  names rules.query_name []
);

comment on type rules.query is
'What somebody typed, as it is understood.';

create or replace function rules._typed(words text)
returns table (n bigint, word text)
language sql stable strict
begin atomic
  -- 3dg is 3 dg; a word that nobody has written here may be two in one: firelanes
  with typed as (
    select
      written.word,
      written.n
    from
      regexp_split_to_table(regexp_replace(rules._plain(_typed.words), '\m([0-9]+)([a-z]{2,})\M', '\1 \2', 'g'), ' ')
      with ordinality as written (word, n)
    where written.word <> ''
  )
  select
    row_number() over (order by typed.n, part.n),
    part.word
  from
    typed
    left join lateral (
      select array[one.word, other.word] as words
      from
        generate_series(3, length(typed.word) - 3) as cut (at)
        join public.word as one on one.word = left(typed.word, cut.at)
        join public.word as other on other.word = substr(typed.word, cut.at + 1)
      where
        not exists (
          select
          from public.word
          where word.stem = rules._stems(typed.word)
        )
      order by least(length(one.word), length(other.word)) desc, cut.at asc
      limit 1
    ) as split on true
    cross join lateral unnest(coalesce(split.words, array[typed.word])) with ordinality as part (word, n);
end;

comment on function rules._typed(text) is
'The words of a query, in order, as they were typed; one made of two known ones as these two.';

create or replace function rules._meanings(word text)
returns table (stem text, trust double precision, named boolean)
language plpgsql stable strict
as $$
#variable_conflict use_column
declare
  own text := rules._stems(_meanings.word);
begin
  if own = '' then
    return;
  end if;
  return query
  select
    own,
    1::double precision,
    true
  where exists (select from public.word where stem = own)
  union all
  -- everyday words for the same thing
  select
    other.stems,
    0.8::double precision,
    false
  from public.synonym as this join public.synonym as other on this.word_group = other.word_group
  where this.stems = own and other.stems not in ('', own)
  group by other.stems;
  if found then
    return;
  end if;
  -- the beginning of a word
  return query
  select
    vocabulary.stem,
    0.9::double precision,
    count(*) over () <= 3
  from public.word as vocabulary
  where length(_meanings.word) > 2 and vocabulary.word like _meanings.word || '%'
  group by vocabulary.stem;
  if found then
    return;
  end if;
  -- one mistyped
  return query
  select
    vocabulary.stem,
    0.8::double precision,
    true
  from
    public.word as vocabulary,
    public.similarity(vocabulary.word, _meanings.word) as likeness,
    lateral (select left(vocabulary.word, 1) = left(_meanings.word, 1) as begins_alike) as letter
  where
    length(_meanings.word) > 3
    and vocabulary.word operator (public.%) _meanings.word
    and likeness
    -- letters that changed places leave few trigrams alike, but the first letter and the length
    > case when begins_alike and abs(length(vocabulary.word) - length(_meanings.word)) <= 1 then 0.3 else 0.36 end
  order by -likeness - case when begins_alike then 0.1 else 0 end, -vocabulary.rules, vocabulary.word
  limit 1;
end;
$$;

comment on function rules._meanings(text) is
'What a typed word may mean: itself and words for the same thing, else words that begin so, else one spelled alike.';

create or replace function rules._meant(words text)
returns table (n bigint, word text, stem text, trust double precision, named boolean, rules bigint)
language sql stable strict
begin atomic
  with typed as materialized (
    select
      found.n,
      found.word
    from rules._typed(_meant.words) as found
  ),
  meant as (
    select
      typed.n,
      typed.word,
      meaning.stem,
      meaning.trust,
      meaning.named
    from typed, lateral rules._meanings(typed.word) as meaning
    union all
    -- two that are written as one here: counter attack
    select
      half.n,
      half.word,
      joined.stem,
      1,
      false
    from
      typed
      join typed as next on typed.n + 1 = next.n
      join public.word as joined on typed.word || next.word = joined.word
      join typed as half on half.n in (typed.n, next.n)
  )
  select
    meant.n,
    meant.word,
    meant.stem,
    max(meant.trust),
    bool_or(meant.named),
    coalesce(max(used.rules), 0)::bigint
  from
    meant
    left join lateral (
      select max(word.rules) as rules
      from public.word
      where word.stem = meant.stem
    ) as used on true
  group by meant.n, meant.word, meant.stem;
end;

comment on function rules._meant(text) is
'The stems that each word of a query may mean, and how many rules have them.';

create or replace function rules._query_words(words text)
returns setof rules.query_word
language sql stable strict
begin atomic
  with meant as materialized (
    select *
    from rules._meant(_query_words.words)
  ),
  total as (
    select count(*) as rules
    from public.rule
  ),
  weighed as (
    -- a word weighs as much as it is rare; one that no rule has, as its synonyms do
    select
      meant.n,
      rules._rarity(
        coalesce(nullif(max(meant.rules) filter (where meant.named), 0), sum(meant.rules)::bigint), max(total.rules)
      ) * case when bool_or(idle.stem is not null) then 0.1 else 1 end as weight
    from
      total,
      meant
      left join public.idle_word as idle on meant.stem = idle.stem and meant.named
    group by meant.n
  )
  select
    meant.n,
    meant.word,
    meant.stem,
    meant.trust,
    meant.named,
    weighed.weight,
    null::double precision,
    rules._rarity(meant.rules, total.rules)
  from
    total,
    meant
    join weighed on meant.n = weighed.n;
end;

comment on function rules._query_words(text) is
'The words of a query that carry meaning, a row for each stem that may be meant, with its trust and what the word weighs.';

create or replace function rules._query_names(words rules.query_word[])
returns setof rules.query_name
language sql stable strict
begin atomic
  -- every run of words in the query that is a name of a term or a concept; spelled alike is liker
  with token as materialized (
    select
      meant.n,
      meant.word,
      meant.stem
    from unnest(_query_names.words) as meant
    where meant.named
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
    max(case when rules._plain(synonym.phrase) = phrase.spelled then 1 else 0.9 end)::double precision
  from phrase join public.synonym on phrase.stems = synonym.stems
  where synonym.word_group is null and synonym.rule_id is null
  group by phrase.first_n, phrase.last_n, phrase.words, synonym.term_id, synonym.concept;
end;

comment on function rules._query_names(rules.query_word[]) is
'The names of terms and concepts among the words of a query.';

create or replace function rules._understood(words text)
returns rules.query
language plpgsql stable
as $$
#variable_conflict use_column
declare
  found rules.query;
begin
  found.words := array(select meant from rules._query_words(_understood.words) as meant);
  found.names := array(select named from rules._query_names(found.words) as named);
  -- the words of a name count together as one
  with weighed as (
    select n, max(weight) / coalesce(max(name.words), 1) as weight
    from unnest(found.words) left join unnest(found.names) as name on n between first_n and last_n
    group by n
  )
  select array_agg(
    row(
      n, word, stem, trust, named, meant.weight,
      weighed.weight / (select sum(every.weight) from weighed as every), rarity
    )::rules.query_word
    order by n, stem
  ) into found.words
  from unnest(found.words) as meant join weighed using (n);
  return found;
end;
$$;

comment on function rules._understood(text) is
'What somebody typed, understood: words with what each may mean and weighs, and the names of things among them.';
