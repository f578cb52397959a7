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

create or replace function rules._places()
returns table (
  stem text, rule_id bigint, title integer, digest integer, asked boolean, above boolean, points boolean, terms boolean
)
language sql stable
begin atomic
  with recursive size as (
    select avg(length(rule.title || rule.digest)) as typical
    from public.rule
  ),
  upward as (
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
    rule.id,
    1 as title,
    0 as digest,
    false as asked,
    false as above,
    false as points,
    false as terms
  from public.rule, lateral unnest(rule.heading) as word (lexeme, positions, weights)
  union all
  -- how often, with less and less gain, and less in a long digest: it mentions much
  select
    word.lexeme,
    rule.id,
    0,
    (
      1000 * cardinality(word.positions)
      / (cardinality(word.positions) + 0.3 + 0.9 * length(rule.title || rule.digest) / size.typical)
    )::integer,
    false,
    false,
    false,
    false
  from size, public.rule, lateral unnest(ts_filter(rule.document, '{b,c}')) as word (lexeme, positions, weights)
  union all
  select
    part.stem,
    synonym.rule_id,
    0,
    0,
    true,
    false,
    false,
    false
  from public.synonym, lateral unnest(synonym.parts) as part (stem)
  where synonym.rule_id is not null
  union all
  select
    word.lexeme,
    upward.id,
    0,
    0,
    false,
    true,
    false,
    false
  from
    upward
    join public.rule as up on upward.parent_id = up.id
    cross join lateral unnest(up.heading) as word (lexeme, positions, weights)
  union all
  select
    part.stem,
    rule.id,
    0,
    0,
    false,
    false,
    true,
    false
  from
    public.contested_point as point
    join public.rule on point.ruleset = rule.ruleset and rule.number = any(point.cites)
    cross join lateral regexp_split_to_table(rules._stems(point.title), ' ') as part (stem)
  union all
  select
    part.stem,
    term.rule_id,
    0,
    0,
    false,
    false,
    false,
    true
  from
    public.term
    join public.synonym on term.id = synonym.term_id
    cross join lateral unnest(synonym.parts) as part (stem)
  where term.rule_id is not null;
end;

comment on function rules._places() is
'Every place where a rule has a word, a row for each.';

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
    max(placed.title),
    max(placed.digest),
    bool_or(placed.asked),
    bool_or(placed.above),
    bool_or(placed.points),
    bool_or(placed.terms)
  from rules._places() as placed
  where placed.stem <> ''
  group by placed.stem, placed.rule_id;
end;
$$;

comment on function rules._place_words() is
'Write anew which rule has which word, and where.';

create or replace function rules._weigh_words()
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

  with total as (
    select count(*) as rules
    from public.rule
  ),
  weighed as (
    select
      word.stem,
      rules._rarity(max(word.rules), max(total.rules)) * case when max(idle.stem) is null then 1 else 0.1 end as weight
    from
      total,
      public.word
      left join public.idle_word as idle on word.stem = idle.stem
    group by word.stem
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

  with total as (
    select count(*) as rules
    from public.rule
  ),
  phrase as (
    select
      synonym.id,
      sum(distinct_word.weight) as mass
    from
      public.synonym
      cross join lateral (
        select rules._rarity(max(word.rules), max(total.rules)) as weight
        from total, public.word
        where word.stem = any(synonym.parts)
        group by word.stem
      ) as distinct_word
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
'Write the vocabulary anew, and what titles and phrases weigh by it.';

create or replace function rules.refresh()
returns void
language plpgsql volatile
as $$
begin
  perform rules._name_things();
  perform rules._place_words();
  perform rules._weigh_words();
  -- so that the first search after this already has a good plan
  analyze public.rule, public.rule_text, public.rule_term, public.concept_rule, public.synonym, public.word,
    public.rule_word;
end;
$$;

comment on function rules.refresh() is
'Make the synonyms and the vocabulary anew, after rules, terms, concepts or texts have changed.';
