-- needs: ddp/scene.sql, ddp/overnight.sql, rulings/step.sql, charts/cells.sql
-- Japanese fire in ddp (D-Day at Peleliu): 6.3 to 6.41, 10.4, 14.41, 16.0, 18.34, 19.3, 19.31.
--
-- `ddp._before` finds who stands before a position, which holds while nobody moves or leaves; `ddp._targets` judges each of
-- them with its reason. `ddp.fire` tells that of one position, `ddp.checked` (sql/ddp/checks.sql) of all that a card has yet to
-- check, for those who assign its hits (6.34), and `ddp.volleys` of the same once units have lost steps.

drop type if exists ddp.shooter cascade;
create type ddp.shooter as (
  place text,
  most integer,
  unrevealed boolean,
  opened boolean,
  symbol text,
  star boolean,
  armor boolean,
  machine_guns boolean,
  again boolean,
  garrisons jsonb
);

comment on type ddp.shooter is
'A position, or a cave, that fires: how many US units it may hit, and by which card; `opened`: by a revealed fortification.';
comment on column ddp.shooter.again is 'Whether it fires a second time, apart from the first (13.2 M)';
comment on column ddp.shooter.garrisons is 'Garrisons that stand alone in its field (14.41)';

create or replace function ddp._lone_garrisons(scene ddp.scene, place text)
returns jsonb
language plpgsql stable
as $$
begin
  -- 14.41: alone in a hex in the field of a position that fires
  return (
    select coalesce(jsonb_agg(jsonb_build_object('unit', post.code, 'label', post.label) order by post.code), '[]')
    from unnest(scene.marines) as post
    inner join unnest(scene.dots) as dot on dot.place = _lone_garrisons.place and dot.q = post.q and dot.r = post.r
    where post.kind = 'garrison'
      and not exists (
        select from ddp._marines(scene) as marine where marine.q = post.q and marine.r = post.r
      )
  );
end
$$;

comment on function ddp._lone_garrisons(ddp.scene, text) is
'Garrisons that stand alone in the field of a position (14.41).';

create or replace function ddp._shooters(scene ddp.scene)
returns setof ddp.shooter
language sql stable rows 20
as $$
  select
    firing.place,
    -- 18.34: one more for a unit that acted under fire in the intense field
    firing.counters + case
      when ddp._ridge((scene.state).conditions) and exists (
        select
        from unnest(scene.dots) as dot
        inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
        where dot.place = firing.place
          and dot.grade = 'intense'
          and marine.under_fire
      ) then 1 else 0
    end,
    firing.unrevealed,
    firing.opened,
    null::text,
    false,
    false,
    false,
    false,
    case
      when exists (select from unnest(scene.marines) as post where post.kind = 'garrison')
        then ddp._lone_garrisons(scene, firing.place)
      else '[]'
    end
  from (
    select
      coalesce(holder.place, holder.label) as place,
      -- 6.31, 6.41, 19.3: units, depth and fortifications
      (count(*) + count(*) filter (where holder.depth))::integer as counters,
      bool_or(not holder.revealed) as unrevealed,
      bool_or(holder.fortification and holder.revealed) as opened
    from unnest(scene.holders) as holder
    where not holder.disrupted
      and not holder.stance
      and not holder.provisional
      and (holder.place is not null or holder.cave)
    group by coalesce(holder.place, holder.label)
  ) as firing
$$;

comment on function ddp._shooters(ddp.scene) is
'The positions and caves with an undisrupted unit, and how many US units each may hit (6.31, 6.41, 18.34, 19.3).';

create or replace function ddp._fire_chart()
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_object_agg(cell.row_key || '/' || cell.column_key, cell.value), '{}')
    from public.chart_cell as cell
    where cell.ruleset = 'ddp'
      and cell.chart = 'japanese_fire_chart'
      and cell.value is not null
  );
end
$$;

comment on function ddp._fire_chart() is
'The cells of the Japanese Fire Chart that somebody has told, by row and column.';

create or replace function ddp._fire_cell(chart jsonb, dot text, status text, what text)
returns text
language sql immutable parallel safe
return coalesce(
  chart ->> (dot || case when dot = 'machine_guns' then '' else '/' || status end || '/' || what),
  -- what of the other column is not told is as in the told one, disruption apart (6.36, second fire example)
  case when what <> 'disrupted' then chart ->> (dot || '/any_unrevealed/' || what) end
);

comment on function ddp._fire_cell(jsonb, text, text, text) is
'What the Japanese Fire Chart says of a dot and a status: types, symbol, step or disrupted; null where nobody tells it.';

create or replace function ddp._exposed(scene ddp.scene, shooters ddp.shooter[])
returns table (place text, q integer, r integer, dot text, point text)
language sql stable rows 40
as $$
  select
    dot.place,
    dot.q,
    dot.r,
    case dot.grade when 'intense' then 'intense' else 'steady' end,
    null
  from unnest(scene.dots) as dot
  union all
  -- 6.31: beside its intense hexes, where it has no dots itself (ddp-4)
  select
    beside.place,
    beside.nq,
    beside.nr,
    'machine_guns',
    case
      when exists (
        select
        from unnest((scene.ground).printed) as other
        where other.q = beside.nq and other.r = beside.nr and other.place <> beside.place
      ) then 'ddp-4'
    end
  from (
    select
      dot.place,
      step.nq,
      step.nr
    from unnest(shooters) as shooter
    inner join unnest(scene.dots) as dot on dot.place = shooter.place and dot.grade = 'intense'
    cross join lateral lattice.neighbours(dot.q, dot.r) as step
    where shooter.machine_guns
      and exists (select from unnest(scene.marines) as man where man.q = step.nq and man.r = step.nr)
    except
    select own.place, own.q, own.r
    from unnest(scene.dots) as own
  ) as beside
$$;

comment on function ddp._exposed(ddp.scene, ddp.shooter[]) is
'The hexes that positions fire into, by dot, and those with US units that their machine guns reach (6.31).';

drop type if exists ddp.target cascade;
create type ddp.target as (
  place text,
  unit text,
  hero boolean,
  label text,
  dot text,
  category text,
  steps integer,
  away integer,
  eligible boolean,
  shaken boolean,
  step boolean,
  disrupts boolean,
  rule text,
  note text,
  point text
);

comment on type ddp.target is
'A US unit, or the hero with it, before a firing position: where it stands, how it may be hit, or why not.';
comment on column ddp.target.shaken is 'Whether it has lost its step of the phase, and a hit would still disrupt it (6.33, 6.34)';

drop type if exists ddp.before cascade;
create type ddp.before as (
  place text,
  unit text,
  dot text,
  point text,
  away integer
);

comment on type ddp.before is
'A US unit before a position that fires: in which dot, and how far from the nearest who fires.';

create or replace function ddp._before(scene ddp.scene, shooters ddp.shooter[])
returns setof ddp.before
language sql stable rows 20
as $$
  select
    shooter.place,
    man.code,
    field.dot,
    field.point,
    (
      select min(lattice.distance(hearth.q, hearth.r, man.q, man.r))
      from unnest(scene.holders) as hearth
      where coalesce(hearth.place, hearth.label) = shooter.place
        and not hearth.disrupted
    )
  from unnest(shooters) as shooter
  inner join ddp._exposed(scene, shooters) as field on field.place = shooter.place
  inner join ddp._marines(scene) as man on man.q = field.q and man.r = field.r
$$;

comment on function ddp._before(ddp.scene, ddp.shooter[]) is
'Who stands before positions that fire: the same while nobody moves, comes or leaves.';

create or replace function ddp._judged(scene ddp.scene, chart jsonb, shooters ddp.shooter[], before ddp.before[])
returns table (
  shooter ddp.shooter, man ddp.man, dot text, point text, away integer, as_hero boolean, led boolean, marked boolean,
  hard boolean, step boolean, disrupts boolean
)
language sql stable rows 20
as $$
  select
    shooter,
    man,
    field.dot,
    field.point,
    field.away,
    hero.taken,
    -- ddp-54 b: an infantry/HQ in a concentrated hex is a target like the others
    hero.taken
    or man.leader
    and not (man.kind = 'infantry_hq' and man.crowded and ((scene.state).readings ->> 'ddp-54') = 'b'),
    -- 6.35: in a hex of seven steps every unit has the symbol
    coalesce(man.crowded or man.symbol = shooter.symbol, false)
    or ddp._fire_cell(chart, field.dot, status.word, 'symbol') = 'false',
    man.armored
    and not shooter.armor
    and coalesce(ddp._fire_cell(chart, field.dot, status.word, 'types'), 'non_armored') = 'non_armored',
    coalesce(ddp._fire_cell(chart, field.dot, status.word, 'step'), 'true') = 'true',
    case
      -- 19.31, 10.42
      when shooter.opened or hero.taken or man.kind in ('regimental_hq', 'command_post', 'hero') then false
      else ddp._fire_cell(chart, field.dot, status.word, 'disrupted')::boolean
    end
  from unnest(shooters) as shooter
  inner join unnest(before) as field on field.place = shooter.place
  inner join unnest(scene.marines) as man on man.code = field.unit
  cross join lateral (
    select case when shooter.unrevealed then 'any_unrevealed' else 'all_revealed' end as word
  ) as status
  cross join lateral (select false as taken union all select true where man.hero) as hero
$$;

comment on function ddp._judged(ddp.scene, jsonb, ddp.shooter[], ddp.before[]) is
'What the Japanese Fire Chart makes of every US unit before positions that fire, and of the heroes with them.';

create or replace function ddp._targets(scene ddp.scene, chart jsonb, shooters ddp.shooter[], before ddp.before[])
returns setof ddp.target
language sql stable rows 20
as $$
  select
    (one.shooter).place,
    (one.man).code,
    one.as_hero,
    (one.man).label,
    one.dot,
    case when one.led then 'leader' else one.dot end,
    case when one.as_hero then 0 else coalesce((one.man).steps, 0) end,
    one.away,
    reason.rule is null,
    coalesce(reason.n = 4 and not reason.more and one.disrupts and not (one.man).disrupted, false),
    one.step,
    one.disrupts,
    coalesce(reason.rule, case when one.led then '10.41' else '6.31' end),
    coalesce(
      reason.note,
      case
        when one.led then 'a leader, hit after all others'
        when one.dot = 'intense' then 'in intense fire'
        when one.dot = 'steady' and (one.man).symbol is distinct from (one.shooter).symbol
          then 'in steady fire, in a hex of seven or more steps'
        when one.dot = 'steady' then 'in steady fire, with the symbol of the card'
        else 'within reach of the machine guns, with the symbol of the card'
      end
    ),
    case
      when one.dot = 'machine_guns' then one.point
      when (one.man).kind = 'infantry_hq' and (one.man).crowded and not one.as_hero then 'ddp-54'
      -- the first fire example leaves out one of two who stand together and have both lost a step
      when reason.n = 4 and exists (
        select from unnest(scene.marines) as other
        where other.q = (one.man).q and other.r = (one.man).r and other.stepped and other.code <> (one.man).code
      ) then 'ddp-26'
    end
  from ddp._judged(scene, chart, shooters, before) as one
  cross join lateral (
    select
      -- the first that holds; of 4 it is told apart whether it is the only one
      case
        when ddp._overnight((scene.state).conditions) and one.away > 1 then 1
        when one.led and one.dot = 'machine_guns' then 2
        when one.led and not (one.shooter).star then 3
        when (one.man).stepped and not one.as_hero and not (one.shooter).again then 4
        when one.dot = 'machine_guns' and one.point is not null and ((scene.state).readings ->> 'ddp-4') = 'b' then 5
        when not one.led and not one.marked then 6
        when not one.led and one.hard then 7
      end as n,
      (one.dot = 'machine_guns' and one.point is not null and ((scene.state).readings ->> 'ddp-4') = 'b')
      or (not one.led and (not one.marked or one.hard)) as more
  ) as bar
  cross join lateral (
    select
      bar.n,
      bar.more,
      (array['16.0', '10.4', '10.4', '6.34', '6.31', '6.3', '6.36'])[bar.n] as rule,
      (
        array[
          'at night fire reaches adjacent hexes only',
          'a leader is hit in the field of fire alone',
          'the color has no star, so it hits no leader',
          'it has lost a step in this Fire Phase',
          'dots of another position lie in its hex',
          'it has not the symbol of the card, nor are seven steps in its hex',
          'armor is hit there by the armor bonus alone'
        ]
      )[bar.n] as note
  ) as reason
$$;

comment on function ddp._targets(ddp.scene, jsonb, ddp.shooter[], ddp.before[]) is
'Every US unit before positions that fire: eligible as what, or the first rule that passes it over (6.3, 10.4, 16.0).';

create or replace function ddp._volley(scene ddp.scene, shooter ddp.shooter, targets ddp.target[], whole boolean)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
begin
  if whole then
    return query
    select
      target.rule,
      null::text,
      target.label,
      case when target.eligible then 'eligible' else 'passed over' end,
      format('%s%s: %s', case when target.hero then 'the hero of ' else '' end, target.unit, target.note),
      target.point,
      target.unit,
      null::integer,
      null::jsonb
    from unnest(targets) as target
    where target.place = shooter.place
    order by
      not target.eligible,
      array_position(array['intense', 'steady', 'machine_guns', 'leader'], target.category),
      target.steps desc,
      target.away,
      target.unit,
      target.hero;
  end if;
  return next row(
    '6.31', null, shooter.place, 'limit',
    case when shooter.most = 1 then 'one unit is hit at most' else format('%s units are hit at most', shooter.most) end,
    null, null, 2 * shooter.most,
    jsonb_build_object(
      'place', shooter.place,
      'allowed', true,
      'limit', shooter.most,
      'column', case when shooter.unrevealed then 'any_unrevealed' else 'all_revealed' end,
      'garrisons', shooter.garrisons,
      'spread', (scene.state).readings ->> 'ddp-46',
      'targets', coalesce(
        (
          select jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.unit, ranked.hero)
          from (
            select
              target.unit,
              target.hero,
              target.label,
              target.category,
              target.dot,
              target.step,
              target.disrupts,
              jsonb_build_object('kind', man.kind, 'attributes', man.attributes) as counter,
              -- 6.31: intense, steady, machine guns, leaders; then most steps, then closer
              dense_rank() over (
                order by
                  array_position(array['intense', 'steady', 'machine_guns', 'leader'], target.category),
                  target.steps desc,
                  target.away
              ) as rank
            from unnest(targets) as target
            inner join unnest(scene.marines) as man on man.code = target.unit
            where target.eligible and target.place = shooter.place
          ) as ranked
        ),
        '[]'
      ),
      'shaken', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object('unit', target.unit, 'label', target.label, 'rank', target.steps)
            order by target.steps desc, target.away, target.unit
          ),
          '[]'
        )
        from unnest(targets) as target
        where target.shaken and target.place = shooter.place
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp._volley(ddp.scene, ddp.shooter, ddp.target[], boolean) is
'If the whole is asked for, every US unit before a position, eligible or passed over, each with the rule; in the verdict the limit and the targets by rank, of
which those of one rank are the player''s choice (6.31, 10.41).';

create or replace function ddp.fire(
  position_id bigint,
  place text,
  symbol text,
  star boolean default false,
  armor boolean default false,
  machine_guns boolean default false,
  again boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  chart jsonb := ddp._fire_chart();
  shooter ddp.shooter;
  before ddp.before[];
  targets ddp.target[];
begin
  select found.* into shooter from ddp._shooters(scene) as found where found.place = fire.place;
  if shooter.place is null then
    return next row(
      '6.4', null, place, 'refused', 'no undisrupted Japanese unit is there to fire', null, null, null,
      '{"allowed": false, "limit": 0, "targets": [], "garrisons": []}'
    )::rulings.ledger_step;
    return;
  end if;
  shooter.symbol := symbol;
  shooter.star := star;
  shooter.armor := armor;
  shooter.machine_guns := machine_guns;
  shooter.again := again;
  before := array(select one from ddp._before(scene, array[shooter]) as one);
  targets := array(select target from ddp._targets(scene, chart, array[shooter], before) as target);
  return query select step.* from ddp._volley(scene, shooter, targets, true) as step;
end
$$;

comment on function ddp.fire(bigint, text, text, boolean, boolean, boolean, boolean, jsonb, jsonb) is
'Fire of one position: every US unit before it, eligible or passed over, each with the rule; the verdict has the limit, the
column of the chart and the targets by rank.';
