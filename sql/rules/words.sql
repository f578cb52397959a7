-- The words of the reference: stems, names of terms and concepts, the vocabulary, and where each rule has a word.

create or replace function rules._plain(words text)
returns text
language sql stable strict parallel safe
return trim(
  regexp_replace(
    lower(public.unaccent('public.unaccent'::regdictionary, words)), '[^[:alnum:]]+', ' ', 'g'
  )
);

comment on function rules._plain(text) is
'Words in lower case, without accents and punctuation, one space between them.';

create or replace function rules._stems(words text)
returns text
language sql stable strict parallel safe
begin atomic
  select coalesce(string_agg(found.lexeme, ' ' order by place.at), '')
  from
    unnest(to_tsvector('public.sightline', rules._plain(words))) as found (lexeme, positions, weights),
    lateral unnest(found.positions) as place (at);
end;

comment on function rules._stems(text) is
'The stems of some words, in order, without those that carry no meaning: line sight for Lines of Sight.';

create or replace function rules._rarity(rules bigint, total bigint)
returns double precision
language sql immutable strict parallel safe
return ln(1 + total::double precision / (1 + rules));

comment on function rules._rarity(bigint, bigint) is
'What a word weighs that some rules of all have: the rarer the more.';

create or replace function rules.learn(words text)
returns void
language sql volatile
begin atomic
  insert into public.word (word, stem, rules)
  select
    spelled.word,
    rules._stems(spelled.word),
    0
  from
    (
      select distinct typed.word
      from regexp_split_to_table(rules._plain(words), ' ') as typed (word)
    ) as spelled
  where rules._stems(spelled.word) <> '' and rules._stems(spelled.word) not like '% %'
  on conflict (word) do nothing;
end;

comment on function rules.learn(text) is
'Take the words of a text into the vocabulary, so that they are searched for as they are written.';

create or replace function rules._name_things()
returns void
language plpgsql volatile
as $$
begin
  update public.synonym
  set stems = rules._stems(phrase)
  where word_group is not null;
  delete from public.synonym
  where word_group is null;
  insert into public.synonym (phrase, stems, term_id, concept, rule_id)
  select
    named.phrase,
    rules._stems(named.phrase),
    named.term_id,
    named.concept,
    named.rule_id
  from (
    select
      alias.phrase,
      term.id as term_id,
      null as concept,
      null::bigint as rule_id
    from public.term, lateral unnest(array_prepend(term.name, term.aliases)) as alias (phrase)
    union
    select
      alias.phrase,
      null,
      concept.code,
      null
    from public.concept, lateral unnest(array_prepend(concept.title, concept.aliases)) as alias (phrase)
    union
    select
      said.phrase,
      null,
      null,
      rule.id
    from public.rule, lateral unnest(rule.asked) as said (phrase)
  ) as named
  where rules._stems(named.phrase) <> ''
  order by named.phrase, named.term_id, named.concept, named.rule_id;
end;
$$;

comment on function rules._name_things() is
'Write anew what people call terms and concepts, and what they say when they look for a rule.';

create or replace function rules._written_places()
returns table (stem text, rule_id bigint, place text, value integer)
language sql stable
begin atomic
  -- what a rule says itself; in a digest how often, with less and less gain, and less in a long one: it mentions much
  with size as (
    select avg(length(rule.title || rule.digest)) as typical
    from public.rule
  )
  select
    word.lexeme as stem,
    rule.id,
    'title' as place,
    1 as value
  from public.rule, lateral unnest(rule.heading) as word (lexeme, positions, weights)
  union all
  select
    word.lexeme,
    rule.id,
    'digest',
    (
      1000 * cardinality(word.positions)
      / (cardinality(word.positions) + 0.3 + 0.9 * length(rule.title || rule.digest) / size.typical)
    )::integer
  from size, public.rule, lateral unnest(ts_filter(rule.document, '{b,c}')) as word (lexeme, positions, weights);
end;

comment on function rules._written_places() is
'The words of titles and digests, each with its rule.';

create or replace function rules._titles_above()
returns table (stem text, rule_id bigint, place text, value integer)
language sql stable
begin atomic
  with recursive upward as (
    select
      rule.id,
      rule.parent_id
    from public.rule
    where rule.parent_id is not null
    union all
    select
      upward.id,
      up.parent_id
    from upward join public.rule as up on upward.parent_id = up.id
    where up.parent_id is not null
  )
  select
    word.lexeme as stem,
    upward.id,
    'above' as place,
    1 as value
  from
    upward
    join public.rule as up on upward.parent_id = up.id
    cross join lateral unnest(up.heading) as word (lexeme, positions, weights);
end;

comment on function rules._titles_above() is
'The words of the titles that a rule stands under.';

create or replace function rules._spoken_places()
returns table (stem text, rule_id bigint, place text, value integer)
language sql stable
begin atomic
  -- what others say of a rule: who look for it, contested points that cite it, names of the terms it defines
  select
    part.stem,
    synonym.rule_id,
    'asked' as place,
    1 as value
  from public.synonym, lateral unnest(synonym.parts) as part (stem)
  where synonym.rule_id is not null
  union all
  select
    part.stem,
    rule.id,
    'points',
    1
  from
    public.contested_point as point
    join public.rule on point.ruleset = rule.ruleset and rule.number = any(point.cites)
    cross join lateral regexp_split_to_table(rules._stems(point.title), ' ') as part (stem)
  union all
  select
    part.stem,
    term.rule_id,
    'terms',
    1
  from
    public.term
    join public.synonym on term.id = synonym.term_id
    cross join lateral unnest(synonym.parts) as part (stem)
  where term.rule_id is not null;
end;

comment on function rules._spoken_places() is
'The words in which players, contested points and terms speak of a rule.';

create or replace function rules._place_words()
returns void
language plpgsql volatile
as $$
begin
  delete from public.rule_word;
  insert into public.rule_word (stem, rule_id, title, digest, asked, above, points, terms)
  select
    placed.stem,
    placed.rule_id,
    coalesce(max(placed.value) filter (where placed.place = 'title'), 0),
    coalesce(max(placed.value) filter (where placed.place = 'digest'), 0),
    bool_or(placed.place = 'asked'),
    bool_or(placed.place = 'above'),
    bool_or(placed.place = 'points'),
    bool_or(placed.place = 'terms')
  from (
    select * from rules._written_places()
    union all
    select * from rules._titles_above()
    union all
    select * from rules._spoken_places()
  ) as placed
  where placed.stem <> ''
  group by placed.stem, placed.rule_id;
end;
$$;

comment on function rules._place_words() is
'Write anew which rule has which word, and where.';

create or replace function rules._spell_words()
returns void
language plpgsql volatile
as $$
begin
  delete from public.word;
  insert into public.word (word, stem, rules)
  select
    spelled.word,
    stemmed.stem,
    coalesce(used.rules, 0)
  from
    ts_stat(
      'select to_tsvector(''simple'', rules._plain(title || '' '' || digest)) from public.rule
       union all select to_tsvector(''simple'', rules._plain(phrase)) from public.synonym
       union all select to_tsvector(''simple'', rules._plain(chart_words)) from public.rule
       union all select to_tsvector(''simple'', rules._plain(effect)) from public.erratum
       union all select to_tsvector(''simple'', rules._plain(text)) from public.rule_text'
    ) as spelled (word, ndoc, nentry),
    lateral (select rules._stems(spelled.word) as stem) as stemmed
    left join (
      select
        placed.stem,
        count(*) as rules
      from public.rule_word as placed
      where placed.title > 0 or placed.digest > 0 or placed.asked
      group by placed.stem
    ) as used on stemmed.stem = used.stem
  where stemmed.stem <> '' and stemmed.stem not like '% %';
end;
$$;

comment on function rules._spell_words() is
'Write the vocabulary anew: every word as it is spelled, its stem, and how many rules have it.';

create or replace function rules._stem_weights()
returns table (stem text, weight double precision)
language sql stable
begin atomic
  with total as (
    select count(*) as rules
    from public.rule
  )
  select
    word.stem,
    rules._rarity(max(word.rules), max(total.rules))
  from total, public.word
  group by word.stem;
end;

comment on function rules._stem_weights() is
'What each stem of the vocabulary weighs.';

create or replace function rules._weigh_words()
returns void
language plpgsql volatile
as $$
begin
  with weighed as materialized (
    select
      found.stem,
      found.weight * case when idle.stem is null then 1 else 0.1 end as weight
    from rules._stem_weights() as found left join public.idle_word as idle on found.stem = idle.stem
  ),
  title as (
    select
      placed.rule_id,
      sum(weighed.weight) as weight
    from public.rule_word as placed join weighed on placed.stem = weighed.stem
    where placed.title > 0
    group by placed.rule_id
  )
  update public.rule_word as placed
  -- a title of one common word is no more than that word: hence the 2
  set title = greatest(1, 1000 * weighed.weight / (2 + title.weight))
  from weighed, title
  where placed.title > 0 and placed.stem = weighed.stem and placed.rule_id = title.rule_id;

  with phrase as (
    select
      synonym.id,
      sum(weighed.weight) as mass
    from
      public.synonym
      cross join lateral (select distinct part.stem from unnest(synonym.parts) as part (stem)) as word
      join rules._stem_weights() as weighed on word.stem = weighed.stem
    where synonym.rule_id is not null
    group by synonym.id
  )
  update public.synonym
  set mass = phrase.mass
  from phrase
  where synonym.id = phrase.id;
end;
$$;

comment on function rules._weigh_words() is
'Write anew what titles and phrases weigh by the vocabulary.';

create or replace function rules.refresh()
returns void
language plpgsql volatile
as $$
begin
  perform rules._name_things();
  perform rules._place_words();
  perform rules._spell_words();
  perform rules._weigh_words();
  -- so that the first search after this already has a good plan
  analyze public.rule, public.rule_text, public.rule_term, public.concept_rule, public.synonym, public.word,
    public.rule_word;
end;
$$;

comment on function rules.refresh() is
'Make the synonyms and the vocabulary anew, after rules, terms, concepts or texts have changed.';
