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

create or replace function rules._names()
returns table (phrase text, stems text, term_id bigint, concept text, rule_id bigint)
language sql stable
begin atomic
  with named as materialized (
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
  ),
  stemmed as materialized (  -- once each: it takes longer than all the rest
    select
      named.phrase,
      rules._stems(named.phrase) as stems,
      named.term_id,
      named.concept,
      named.rule_id
    from named
  )
  select *
  from stemmed
  where stemmed.stems <> '';
end;

comment on function rules._names() is
'What people call terms and concepts, and what they say when they look for a rule.';

create or replace function rules._name_things()
returns void
language plpgsql volatile
as $$
begin
  update public.synonym
  set stems = rules._stems(phrase)
  where word_group is not null and stems <> rules._stems(phrase);
  with named as materialized (
    select * from rules._names()
  ),
  kept as materialized (
    select synonym.phrase, synonym.stems, synonym.term_id, synonym.concept, synonym.rule_id
    from public.synonym
    where synonym.word_group is null
  ),
  gone as (
    delete from public.synonym as old
    using (select * from kept except select * from named) as lost
    where
      old.word_group is null and old.phrase = lost.phrase and old.stems = lost.stems
      and (old.term_id, old.concept, old.rule_id) is not distinct from (lost.term_id, lost.concept, lost.rule_id)
  )
  insert into public.synonym (phrase, stems, term_id, concept, rule_id)
  select * from named except select * from kept
  order by phrase, term_id, concept, rule_id;
end;
$$;

comment on function rules._name_things() is
'Write what people call terms and concepts, and what they say when they look for a rule, where it has changed.';

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

create or replace function rules._places()
returns table (
  stem text, rule_id bigint, title integer, digest integer, asked boolean, above boolean, points boolean,
  terms boolean
)
language sql stable
begin atomic
  select
    placed.stem,
    placed.rule_id,
    coalesce(max(placed.value) filter (where placed.place = 'title'), 0) as title,
    coalesce(max(placed.value) filter (where placed.place = 'digest'), 0) as digest,
    bool_or(placed.place = 'asked') as asked,
    bool_or(placed.place = 'above') as above,
    bool_or(placed.place = 'points') as points,
    bool_or(placed.place = 'terms') as terms
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

comment on function rules._places() is
'Which rule has which word, and where; one in a title counts as 1 until it is weighed.';

create or replace function rules._place_words()
returns void
language plpgsql volatile
as $$
begin
  with placed as materialized (
    select * from rules._places()
  ),
  gone as (
    delete from public.rule_word as old
    where not exists (
      select from placed where placed.stem = old.stem and placed.rule_id = old.rule_id
    )
  )
  insert into public.rule_word as old (stem, rule_id, title, digest, asked, above, points, terms)
  select placed.*
  from placed left join public.rule_word as known on placed.stem = known.stem and placed.rule_id = known.rule_id
  -- a title that is there is weighed already
  where
    (placed.title > 0, placed.digest, placed.asked, placed.above, placed.points, placed.terms)
    is distinct from (known.title > 0, known.digest, known.asked, known.above, known.points, known.terms)
  on conflict (stem, rule_id) do update set
    title = excluded.title, digest = excluded.digest, asked = excluded.asked, above = excluded.above,
    points = excluded.points, terms = excluded.terms;
end;
$$;

comment on function rules._place_words() is
'Write which rule has which word, and where, as far as it has changed.';

create or replace function rules._spelled()
returns table (word text, stem text, rules bigint)
language plpgsql stable
as $$
begin
  return query
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

comment on function rules._spelled() is
'Every word as it is spelled, its stem, and how many rules have it.';

create or replace function rules._spell_words()
returns void
language plpgsql volatile
as $$
begin
  with spelled as materialized (
    select * from rules._spelled()
  ),
  gone as (
    delete from public.word as old
    where not exists (select from spelled where spelled.word = old.word)
  )
  insert into public.word as old (word, stem, rules)
  select spelled.*
  from spelled left join public.word as known on spelled.word = known.word
  where (spelled.stem, spelled.rules) is distinct from (known.stem, known.rules)
  on conflict (word) do update set stem = excluded.stem, rules = excluded.rules;
end;
$$;

comment on function rules._spell_words() is
'Write the vocabulary, every word as it is spelled, its stem, and how many rules have it, where it has changed.';

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
  set title = found.weight
  from (
    select
      had.stem,
      had.rule_id,
      -- a title of one common word is no more than that word: hence the 2
      greatest(1, 1000 * weighed.weight / (2 + title.weight))::integer as weight
    from
      public.rule_word as had
      join weighed on had.stem = weighed.stem
      join title on had.rule_id = title.rule_id
    where had.title > 0
  ) as found
  where placed.stem = found.stem and placed.rule_id = found.rule_id and placed.title <> found.weight;

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
  set mass = found.mass
  from (
    select
      said.id,
      coalesce(phrase.mass, 0) as mass
    from public.synonym as said left join phrase on said.id = phrase.id
  ) as found
  where synonym.id = found.id and synonym.mass <> found.mass;
end;
$$;

comment on function rules._weigh_words() is
'Write what titles and phrases weigh by the vocabulary, where it has changed.';

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
'Bring the synonyms and the vocabulary up to date, after rules, terms, concepts or texts have changed.';
